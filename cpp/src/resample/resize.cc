// The public resize: a whole picture, parallel over bands of output rows.
#include "mmcpp/resize.h"

#include <algorithm>
#include <functional>
#include <string>

#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "par/par.h"
#include "resample/resampler.h"

namespace mmcpp {
namespace {

template <class T>
struct Name {
  const char* name;
  T value;
};

constexpr Name<Filter> kFilters[] = {{"box", Filter::kBox},
                                     {"bilinear", Filter::kBilinear},
                                     {"hamming", Filter::kHamming},
                                     {"bicubic", Filter::kBicubic},
                                     {"lanczos", Filter::kLanczos}};
constexpr Name<Convention> kConventions[] = {{"pillow", Convention::kPillow13},
                                             {"pillow12", Convention::kPillow12},
                                             {"aten_u8", Convention::kAtenU8}};

template <class T, size_t n>
Result<T> FromName(const Name<T> (&table)[n], const char* kind, const std::string& name) {
  std::string known;
  for (const auto& entry : table) {
    if (name == entry.name) return entry.value;
    known += (known.empty() ? "\"" : ", \"") + std::string(entry.name) + "\"";
  }
  return InvalidArgument("resize: unknown " + std::string(kind) + " \"" + name + "\"; expected " +
                         known);
}

Status ResizeRows(const resample::Resampler& resampler, const ImageView& image, int y_begin,
                  int y_end, const ImageSpan& out) {
  const int block_width = resampler.BlockWidth(1, 0);
  for (int x = 0; x < out.width; x += block_width) {
    const int x_end = std::min(out.width, x + block_width);
    MMCPP_ASSIGN(auto block, resample::BlockResampler::Make(resampler, image, x, x_end, y_begin));
    block.Next(y_end - y_begin, out.row(y_begin) + static_cast<size_t>(x) * 3, out.row_bytes);
  }
  return Ok{};
}

Status ResizeAll(const resample::Resampler& resampler, const ImageView& image,
                 const ImageSpan& out) {
  return par::TryRanges(
      static_cast<size_t>(out.height), resampler.GrainRows(), [&](size_t begin, size_t end) {
        return ResizeRows(resampler, image, static_cast<int>(begin), static_cast<int>(end), out);
      });
}

Status CheckRoom(const ImageView& image, const ImageSpan& out) {
  if (out.data == nullptr || out.row_bytes < static_cast<size_t>(out.width) * 3) {
    return InvalidArgument("resize: an output without room for rows of " +
                           std::to_string(out.width) + " pixels");
  }
  const std::less<const uint8_t*> before;
  if (before(out.data, image.row(image.height)) && before(image.data, out.row(out.height))) {
    return InvalidArgument("resize: an output that overlaps the image");
  }
  return Ok{};
}

}  // namespace

Result<Filter> FilterFromName(const std::string& name) {
  return FromName(kFilters, "filter", name);
}

Result<Convention> ConventionFromName(const std::string& name) {
  return FromName(kConventions, "convention", name);
}

Result<Image> Resize(const ImageView& image, int out_height, int out_width, Filter filter,
                     Convention convention) {
  return CatchOutOfMemory([&]() -> Result<Image> {
    MMCPP_ASSIGN(const auto resampler,
                 resample::Resampler::Make(image, out_height, out_width, filter, convention));
    MMCPP_ASSIGN(Image out, Image::Allocate(out_height, out_width));
    MMCPP_TRY(ResizeAll(resampler, image, {out.data(), out_height, out_width, out.row_bytes()}));
    return out;
  });
}

Status ResizeInto(const ImageView& image, const ImageSpan& out, Filter filter,
                  Convention convention) {
  return CatchOutOfMemory([&]() -> Status {
    MMCPP_ASSIGN(const auto resampler,
                 resample::Resampler::Make(image, out.height, out.width, filter, convention));
    MMCPP_TRY(CheckRoom(image, out));
    return ResizeAll(resampler, image, out);
  });
}

}  // namespace mmcpp
