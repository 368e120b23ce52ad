// Any resize, and any one pass to patches: every kernel table gives the bytes that the scalar one
// gives, whatever the ranges that the work is cut into, and reads nothing outside the picture
// (which ends where its heap block does, for AddressSanitizer to watch).
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "byte_reader.h"
#include "families/resize_patches.h"
#include "mmcpp/resize.h"
#include "simd/dispatch.h"

namespace mmcpp::par {
void SetChaosSeed(uint64_t seed) noexcept;
}  // namespace mmcpp::par

namespace mmcpp::fuzz {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

// Sides of 1 to 8, to 64 or to 1024: the smaller the commoner.
int Side(ByteReader* in) {
  const size_t kind = in->Below(16);
  if (kind < 8) return static_cast<int>(1 + in->Below(8));
  if (kind < 15) return static_cast<int>(1 + in->Below(64));
  return static_cast<int>(1 + in->Below(256) * 4);
}

struct Picture {
  std::unique_ptr<uint8_t[]> bytes;
  ImageView view;
};

Picture MakePicture(ByteReader* in) {
  Picture picture;
  const int height = Side(in), width = Side(in);
  const size_t row_bytes = static_cast<size_t>(width) * 3 + in->Below(9);
  // The last row has no padding.
  const size_t size = row_bytes * static_cast<size_t>(height - 1) + static_cast<size_t>(width) * 3;
  picture.bytes.reset(new uint8_t[size]);
  const Bytes pattern = in->Take(48);
  for (size_t i = 0; i < size; ++i) {
    picture.bytes[i] = pattern.empty() ? static_cast<uint8_t>(i * 2654435761u >> 16)
                                       : pattern[i * i % pattern.size()];
  }
  picture.view = {picture.bytes.get(), height, width, row_bytes};
  return picture;
}

template <class Compute>
void SameOnEveryTable(uint64_t seed, const Compute& compute) {
  std::vector<uint8_t> expected;
  for (const simd::Kernels* kernels : simd::RunnableKernels()) {
    par::SetChaosSeed(kernels == simd::RunnableKernels()[0] ? 0 : seed);
    simd::OverrideKernels(kernels);
    const std::vector<uint8_t> bytes = compute();
    if (kernels == simd::RunnableKernels()[0]) expected = bytes;
    Require(bytes == expected);
  }
  simd::OverrideKernels(nullptr);
}

void CheckResize(ByteReader* in) {
  const auto filter = static_cast<Filter>(in->Below(5));
  const auto convention = static_cast<Convention>(in->Below(3));
  const uint64_t seed = in->Byte();
  const int height = Side(in), width = Side(in);
  const Picture picture = MakePicture(in);
  SameOnEveryTable(seed, [&] {
    const auto out = Resize(picture.view, height, width, filter, convention);
    const bool allowed =
        convention != Convention::kAtenU8 || (filter != Filter::kBox && filter != Filter::kHamming);
    Require(out.ok() == allowed);
    if (!out.ok()) return std::vector<uint8_t>();
    return std::vector<uint8_t>(
        out->data(), out->data() + out->row_bytes() * static_cast<size_t>(out->height()));
  });
}

void CheckPatches(ByteReader* in) {
  const DType dtypes[] = {DType::kF32, DType::kBf16, DType::kF16, DType::kU8};
  const DType dtype = dtypes[in->Below(4)];
  const transforms::BlockPatches layout = {static_cast<int>(1 + in->Below(20)),
                                           static_cast<int>(1 + in->Below(3)),
                                           static_cast<int>(1 + in->Below(3))};
  const int height = static_cast<int>(1 + in->Below(6)) * layout.unit();
  const int width = static_cast<int>(1 + in->Below(6)) * layout.unit();
  const uint64_t seed = in->Byte();
  const auto part = [in](int whole) {  // begin and length
    const int length = 1 + static_cast<int>(in->Below(static_cast<uint64_t>(whole)));
    return std::pair(static_cast<int>(in->Below(static_cast<uint64_t>(whole - length + 1))),
                     length);
  };
  const auto [y, picture_height] = part(height);
  const auto [x, picture_width] = part(width);
  const resample::Canvas canvas = {height, width, {y, x, picture_height, picture_width}, {1, 2, 3}};
  const auto table = transforms::MakeNormTable(transforms::NormRule::kFused, {0.4f, 0.5f, 0.6f},
                                               {0.2f, 0.3f, 0.4f});
  const Picture picture = MakePicture(in);
  const int64_t patch = int64_t{layout.patch_size} * layout.patch_size;
  SameOnEveryTable(seed, [&] {
    auto out =
        Tensor::Allocate(dtype, {int64_t{height} * width / patch, 3 * layout.copies * patch});
    Require(out.ok());
    std::memset(out->data(), 0xa5, out->byte_count());
    Require(families::ResizeToPatches(picture.view, canvas, Filter::kBicubic, Convention::kPillow13,
                                      layout, table, out->view())
                .ok());
    return std::vector<uint8_t>(out->data(), out->data() + out->byte_count());
  });
}

}  // namespace
}  // namespace mmcpp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mmcpp::fuzz::ByteReader in(data, size);
  if (in.Byte() % 4 == 0) {
    mmcpp::fuzz::CheckPatches(&in);
  } else {
    mmcpp::fuzz::CheckResize(&in);
  }
  return 0;
}
