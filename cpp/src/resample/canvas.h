// A resized picture on a canvas of one colour, as if it had been pasted there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "mmcpp/status.h"
#include "resample/resampler.h"

namespace mmcpp::resample {

/// Pixels [y, y + height) x [x, x + width).
struct Window {
  int y = 0, x = 0;
  int height = 0, width = 0;
};

/// Whether it has pixels, all of which are among height x width.
bool Within(const Window& window, int height, int width);

/// What a resize gives: a picture of the size that is wanted, or such a picture on a canvas.
struct Canvas {
  Canvas(int picture_height, int picture_width)  // which covers the canvas
      : height(picture_height),
        width(picture_width),
        picture{0, 0, picture_height, picture_width} {}
  Canvas(int canvas_height, int canvas_width, const Window& placed,
         const std::array<uint8_t, 3>& around = {})
      : height(canvas_height), width(canvas_width), picture(placed), color(around) {}

  bool covered() const { return picture.height == height && picture.width == width; }

  int height, width;
  Window picture;                     ///< the resized picture's place
  std::array<uint8_t, 3> color = {};  ///< around it
};

/// kInvalidArgument unless the picture lies within the canvas.
Status CheckCanvas(const Canvas& canvas);

/// Produces the columns [x_begin, x_end) of a canvas, rows in ascending order, any number at a
/// time.
class CanvasBlock {
 public:
  /// As those of BlockResampler; x and y are the canvas's. `canvas` is a checked one, whose picture
  /// has the resampler's output size.
  static Result<CanvasBlock> Make(const Resampler& resampler, const Canvas& canvas,
                                  const InputRows& input, int x_begin, int x_end, int y_begin);
  static Result<CanvasBlock> MakeForStrips(const Resampler& resampler, const Canvas& canvas,
                                           const InputRows& input, int x_begin, int x_end,
                                           int strip);

  /// As that of BlockResampler.
  void Take(int in_end) {
    if (block_) block_->Take(in_end);
  }

  int y() const { return y_; }  ///< of the next row
  int columns() const { return x_end_ - x_begin_; }

  /// Writes the next `rows` rows; dst's row r starts at dst + r * dst_row_bytes.
  void Next(int rows, uint8_t* dst, size_t dst_row_bytes);

 private:
  CanvasBlock(const Canvas& canvas, int x_begin, int x_end, int y_begin)
      : canvas_(canvas), x_begin_(x_begin), x_end_(x_end), y_(y_begin) {}

  // The columns of the picture that are in the block; none if begin is not below end.
  std::pair<int, int> PictureColumns() const;
  void Fill(int x, int x_end, uint8_t* row) const;

  Canvas canvas_;
  int x_begin_, x_end_, y_;
  std::optional<BlockResampler> block_;  // none where the picture has no columns
};

}  // namespace mmcpp::resample
