// Two resizes of three channels: of the colours, and of alpha three times over. Each takes its rows
// as they are made from the picture's, so that nothing of the picture's size stands beside it.
#include "resample/rgba_resize.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "base/row_source.h"
#include "par/par.h"
#include "resample/tiles.h"

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

/// `rgb` is multiplied by its alpha.
void Divide(const uint8_t* rgb, uint8_t alpha, uint8_t* out) {
  const bool divided = alpha != 0 && alpha != 255;
  for (int c = 0; c < 3; ++c) {
    out[c] = divided ? static_cast<uint8_t>(std::min(255u, 255u * rgb[c] / alpha)) : rgb[c];
  }
}

/// Three channels that `pixel` makes of each RGBA pixel. Every strip asks whether it is wanted.
template <class Pixel>
class MadeRows final : public RowSource {
 public:
  MadeRows(const ImageView& image, const RowSource& wanted, Pixel pixel)
      : RowSource(image.height, image.width), image_(image), wanted_(wanted), pixel_(pixel) {}

  Status Read(int rows, uint8_t* dst, size_t row_bytes) override {
    MMCPP_TRY(wanted_.StillWanted());
    const size_t grain = std::max<size_t>(1, kGrainPixels / static_cast<size_t>(image_.width));
    par::ForRange(static_cast<size_t>(rows), grain, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) Make(y_ + static_cast<int>(i), dst + i * row_bytes);
    });
    y_ += rows;
    return Ok{};
  }

 private:
  static constexpr size_t kGrainPixels = size_t{1} << 14;

  void Make(int y, uint8_t* to) const {
    const uint8_t* from = image_.row(y);
    for (int x = 0; x < image_.width; ++x, from += 4, to += 3) pixel_(from, to);
  }

  ImageView image_;
  const RowSource& wanted_;
  Pixel pixel_;
  int y_ = 0;
};

/// Calls join(pixel of the resize of what `made` makes, pixel of `out`) for every pixel.
template <class Pixel, class Join>
Status ResizeOnto(const ImageView& image, const RowSource& wanted, Filter filter,
                  Convention convention, Pixel made, const Join& join, Image* out) {
  constexpr int kTileRows = 16;
  MadeRows<Pixel> rows(image, wanted, made);
  return ResizeTiles(&rows, {out->height(), out->width()}, filter, convention, kTileRows,
                     [&](const Tile& tile) {
                       for (int i = 0; i < tile.height; ++i) {
                         const uint8_t* from = tile.rows + static_cast<size_t>(i) * tile.row_bytes;
                         uint8_t* to = out->row(tile.y + i) + static_cast<size_t>(tile.x) * 4;
                         for (int j = 0; j < tile.width; ++j, from += 3, to += 4) join(from, to);
                       }
                     });
}

Result<Image> ResizeToOtherSize(const ImageView& image, const RowSource& wanted, int out_height,
                                int out_width, Filter filter, Convention convention) {
  MMCPP_ASSIGN(Image out, Image::Allocate(out_height, out_width, 4));
  const auto colors = [](const uint8_t* rgb, uint8_t* rgba) { std::memcpy(rgba, rgb, 3); };
  const auto alpha = [](const uint8_t* alphas, uint8_t* rgba) {
    Divide(rgba, alphas[0], rgba);
    rgba[3] = alphas[0];
  };
  MMCPP_TRY(ResizeOnto(image, wanted, filter, convention, Premultiply, colors, &out));
  MMCPP_TRY(ResizeOnto(image, wanted, filter, convention, RepeatAlpha, alpha, &out));
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

Result<Image> ResizeRgba(RowSource* rows, int out_height, int out_width, Filter filter,
                         Convention convention) {
  if (rows->channels() != 4) {
    return InvalidArgument("resize: expected 4 channels, got " + std::to_string(rows->channels()));
  }
  return CatchOutOfMemory([&]() -> Result<Image> {
    Image read;
    const ImageView* whole = rows->whole();
    if (whole == nullptr) {
      MMCPP_ASSIGN(read, ReadAll(rows));
    }
    const ImageView image = whole == nullptr ? ImageView(read) : *whole;
    if (image.height == out_height && image.width == out_width) return Copy(image);
    return ResizeToOtherSize(image, *rows, out_height, out_width, filter, convention);
  });
}

}  // namespace mmcpp::resample
