// Two resizes of three channels: of the colours, and of alpha three times over. They come one after
// the other, so that only one picture stands beside the input at a time.
#include "resample/rgba_resize.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "par/par.h"

namespace mmcpp::resample {
namespace {

/// Pillow's division by 255 with rounding, for 0 <= x <= 255 * 255.
uint8_t DivideBy255(uint32_t x) {
  const uint32_t t = x + 128;
  return static_cast<uint8_t>((t + (t >> 8)) >> 8);
}

void Premultiply(const uint8_t* rgba, uint8_t* rgb) {
  for (int c = 0; c < 3; ++c) rgb[c] = DivideBy255(uint32_t{rgba[c]} * rgba[3]);
}

void RepeatAlpha(const uint8_t* rgba, uint8_t* rgb) {
  for (int c = 0; c < 3; ++c) rgb[c] = rgba[3];
}

/// `alpha` is the first of three that are equal.
void Join(const uint8_t* rgb, const uint8_t* alpha, uint8_t* rgba) {
  const uint32_t divisor = *alpha;
  const bool divided = divisor != 0 && divisor != 255;
  for (int c = 0; c < 3; ++c) {
    rgba[c] = divided ? static_cast<uint8_t>(std::min(255u, 255u * rgb[c] / divisor)) : rgb[c];
  }
  rgba[3] = *alpha;
}

/// Calls row(y) for every row, several at once.
template <class Row>
void ForRows(int height, int width, const Row& row) {
  constexpr size_t kGrainPixels = size_t{1} << 16;
  const size_t grain = std::max<size_t>(1, kGrainPixels / static_cast<size_t>(width));
  par::ForRange(static_cast<size_t>(height), grain, [&](size_t begin, size_t end) {
    for (size_t y = begin; y < end; ++y) row(static_cast<int>(y));
  });
}

/// The resize of the picture that `pixel` makes of each RGBA pixel.
template <class Pixel>
Result<Image> ResizeOf(const ImageView& image, int out_height, int out_width, Filter filter,
                       Convention convention, const Pixel& pixel) {
  MMCPP_ASSIGN(Image rgb, Image::Allocate(image.height, image.width));
  ForRows(image.height, image.width, [&](int y) {
    const uint8_t* from = image.row(y);
    uint8_t* to = rgb.row(y);
    for (int x = 0; x < image.width; ++x, from += 4, to += 3) pixel(from, to);
  });
  return Resize(rgb, out_height, out_width, filter, convention);
}

Result<Image> ResizeToOtherSize(const ImageView& image, int out_height, int out_width,
                                Filter filter, Convention convention) {
  MMCPP_ASSIGN(const Image colors,
               ResizeOf(image, out_height, out_width, filter, convention, Premultiply));
  MMCPP_ASSIGN(const Image alpha,
               ResizeOf(image, out_height, out_width, filter, convention, RepeatAlpha));
  MMCPP_ASSIGN(Image out, Image::Allocate(out_height, out_width, 4));
  ForRows(out_height, out_width, [&](int y) {
    const uint8_t* rgb = colors.row(y);
    const uint8_t* a = alpha.row(y);
    uint8_t* to = out.row(y);
    for (int x = 0; x < out_width; ++x, rgb += 3, a += 3, to += 4) Join(rgb, a, to);
  });
  return out;
}

Result<Image> Copy(const ImageView& image) {
  MMCPP_ASSIGN(Image copy, Image::Allocate(image.height, image.width, 4));
  for (int y = 0; y < image.height; ++y) {
    std::memcpy(copy.row(y), image.row(y), copy.row_bytes());
  }
  return copy;
}

}  // namespace

Result<Image> ResizeRgba(const ImageView& image, int out_height, int out_width, Filter filter,
                         Convention convention) {
  if (image.channels != 4) {
    return InvalidArgument("resize: expected 4 channels, got " + std::to_string(image.channels));
  }
  return CatchOutOfMemory([&]() -> Result<Image> {
    if (image.height == out_height && image.width == out_width) return Copy(image);
    return ResizeToOtherSize(image, out_height, out_width, filter, convention);
  });
}

}  // namespace mmcpp::resample
