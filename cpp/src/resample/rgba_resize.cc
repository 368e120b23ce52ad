// Two resizes of three channels side by side: of the colours, and of alpha three times over. Each
// takes its rows as they are made from the picture's, and what they give is joined row by row, so
// that nothing of the picture's or the result's size stands beside the picture.
#include "resample/rgba_resize.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "base/row_source.h"
#include "mmcpp/tensor.h"
#include "par/par.h"
#include "resample/resized_rows.h"
#include "simd/kernels.h"

namespace mmcpp::resample {
namespace {

using Rows = std::unique_ptr<RowSource>;

/// Pillow's division by 255 with rounding, for 0 <= x <= 255 * 255.
uint8_t DivideBy255(uint32_t x) {
  const uint32_t t = x + 128;
  return static_cast<uint8_t>((t + (t >> 8)) >> 8);
}

struct Premultiply {
  void operator()(const uint8_t* rgba, uint8_t* rgb) const {
    for (int c = 0; c < 3; ++c) rgb[c] = DivideBy255(uint32_t{rgba[c]} * rgba[3]);
  }
};

struct RepeatAlpha {
  void operator()(const uint8_t* rgba, uint8_t* rgb) const {
    for (int c = 0; c < 3; ++c) rgb[c] = rgba[3];
  }
};

/// `rgb` is multiplied by its alpha.
void Divide(const uint8_t* rgb, uint8_t alpha, uint8_t* rgba) {
  const bool divided = alpha != 0 && alpha != 255;
  for (int c = 0; c < 3; ++c) {
    rgba[c] = divided ? static_cast<uint8_t>(std::min(255u, 255u * rgb[c] / alpha)) : rgb[c];
  }
  rgba[3] = alpha;
}

/// Three channels that `Pixel` makes of each RGBA pixel. Every strip asks whether it is wanted.
template <class Pixel>
class MadeRows final : public RowSource {
 public:
  MadeRows(const ImageView& image, const RowSource& wanted)
      : RowSource(image.height, image.width), image_(image), wanted_(wanted) {}

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
    for (int x = 0; x < image_.width; ++x, from += 4, to += 3) Pixel()(from, to);
  }

  ImageView image_;
  const RowSource& wanted_;
  int y_ = 0;
};

/// One of the two resizes, of `Pixel` of a picture.
template <class Pixel>
class Resized {
 public:
  Resized(const ImageView& image, const RowSource& wanted) : made_(image, wanted) {}

  Status Start(int out_height, int out_width, Filter filter, Convention convention, int rows) {
    MMCPP_ASSIGN(resized_, ResizedRows::Make(&made_, out_height, out_width, filter, convention));
    MMCPP_ASSIGN(memory_,
                 Buffer::Allocate(resized_->dense_row_bytes() * static_cast<size_t>(rows)));
    return Ok{};
  }

  /// The next rows, of so many that Start was told of.
  Result<const uint8_t*> Read(int rows) {
    MMCPP_TRY(resized_->Read(rows, memory_.data(), resized_->dense_row_bytes()));
    return static_cast<const uint8_t*>(memory_.data());
  }

 private:
  MadeRows<Pixel> made_;
  std::unique_ptr<ResizedRows> resized_;
  Buffer memory_;
};

class RgbaRows final : public RowSource {
 public:
  /// `image` is in memory.
  static Result<Rows> Make(Rows image, const RowSource& wanted, int out_height, int out_width,
                           Filter filter, Convention convention) {
    std::unique_ptr<RgbaRows> made(new RgbaRows(std::move(image), wanted, out_height, out_width));
    MMCPP_TRY(made->colors_.Start(out_height, out_width, filter, convention, kRows));
    MMCPP_TRY(made->alphas_.Start(out_height, out_width, filter, convention, kRows));
    return Rows(std::move(made));
  }

  Status Read(int rows, uint8_t* dst, size_t row_bytes) override {
    const auto columns = static_cast<size_t>(width());
    while (rows > 0) {
      const int n = std::min(rows, kRows);
      MMCPP_ASSIGN(const uint8_t* colors, colors_.Read(n));
      MMCPP_ASSIGN(const uint8_t* alphas, alphas_.Read(n));
      for (int row = 0; row < n; ++row, dst += row_bytes) {
        for (size_t x = 0; x < columns; ++x, colors += 3, alphas += 3) {
          Divide(colors, alphas[0], dst + 4 * x);
        }
      }
      rows -= n;
    }
    return Ok{};
  }

 private:
  static constexpr int kRows = simd::kResampleRows;

  RgbaRows(Rows image, const RowSource& wanted, int out_height, int out_width)
      : RowSource(out_height, out_width, 4),
        image_(std::move(image)),
        colors_(*image_->whole(), wanted),
        alphas_(*image_->whole(), wanted) {}

  Rows image_;
  Resized<Premultiply> colors_;
  Resized<RepeatAlpha> alphas_;
};

Result<Rows> InMemory(RowSource* rows) {
  if (const ImageView* whole = rows->whole()) return Rows(std::make_unique<WholeRows>(*whole));
  MMCPP_ASSIGN(Image image, ReadAll(rows));
  return Rows(std::make_unique<WholeRows>(std::move(image)));
}

}  // namespace

Result<Rows> ResizeRgba(RowSource* rows, int out_height, int out_width, Filter filter,
                        Convention convention) {
  if (rows->channels() != 4) {
    return InvalidArgument("resize: expected 4 channels, got " + std::to_string(rows->channels()));
  }
  return CatchOutOfMemory([&]() -> Result<Rows> {
    MMCPP_ASSIGN(Rows image, InMemory(rows));
    if (rows->height() == out_height && rows->width() == out_width) return image;
    return RgbaRows::Make(std::move(image), *rows, out_height, out_width, filter, convention);
  });
}

}  // namespace mmcpp::resample
