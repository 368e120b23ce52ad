// The two passes of a resize, by bands of rows and blocks of columns, so that only the rows that
// are still needed exist between the passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mmcpp/image.h"
#include "mmcpp/resize.h"
#include "mmcpp/status.h"
#include "resample/coeffs.h"
#include "simd/kernels.h"

namespace mmcpp::resample {

/// One axis: weights and, where the kernel table wants them, their packed form.
struct PreparedAxis {
  AxisWeights weights;
  Buffer packed;
  bool needed = false;  ///< false: sizes are equal and the axis has no pass

  simd::ResampleAxis View() const;
};

/// What a resize between two sizes needs, whatever the picture. Immutable; any thread may use it.
class Resampler {
 public:
  /// Of a picture in memory. Errors as Resize.
  static Result<Resampler> Make(const ImageView& image, int out_height, int out_width,
                                Filter filter, Convention convention);
  static Result<Resampler> Make(int in_height, int in_width, int out_height, int out_width,
                                Filter filter, Convention convention);

  int in_height() const { return in_height_; }
  int in_width() const { return in_width_; }
  int out_height() const { return out_height_; }
  int out_width() const { return out_width_; }

  /// Columns of a block, a multiple of `unit` (but for the last block): as many as keep its rows
  /// between the passes, and `extra_rows` rows of output, within 512 KiB, which is to say in the
  /// second-level cache.
  int BlockWidth(int unit, int extra_rows) const;

  /// Output rows that are worth a thread: 64 KiB of them, and enough that the rows that
  /// neighbouring ranges both need between the passes (they compute them twice) stay few.
  size_t GrainRows() const;

  /// Input rows that an output row reads; 1 where the horizontal pass may take them as they come.
  int WindowRows() const;
  /// The end of the output rows from y on for which the first `in_rows` input rows suffice.
  int ReadyEnd(int y, int in_rows) const;

 private:
  friend class BlockResampler;

  bool HorizontalFirst() const {
    return horizontal_.needed && vertical_.needed && !vertical_first_;
  }

  int in_height_ = 0, in_width_ = 0, out_height_ = 0, out_width_ = 0;
  bool vertical_first_ = false;
  PreparedAxis horizontal_, vertical_;
  const simd::Kernels* kernels_ = nullptr;
};

/// The rows that a resize reads: of a picture in memory, or those that are still kept of one whose
/// rows come from top to bottom.
struct InputRows {
  InputRows(const ImageView& view) : InputRows(view, view.height) {}  // NOLINT: it is the rows
  InputRows(const ImageView& view, int kept_rows) : image(view), kept(kept_rows) {}

  const uint8_t* row(int y) const { return image.row(y % kept); }

  ImageView image;  // height is the picture's, but only `kept` rows are in memory
  int kept;         // row y is where row y % kept of the memory is
};

/// Produces the columns [x_begin, x_end) of a resize, rows in ascending order, any number at a
/// time.
class BlockResampler {
 public:
  /// `resampler` and the pixels of `input` must outlive this; input has the resampler's input size.
  /// kOutOfMemory.
  static Result<BlockResampler> Make(const Resampler& resampler, const InputRows& input,
                                     int x_begin, int x_end, int y_begin);
  /// For rows that come `strip` at a time: Take must be called for each strip.
  static Result<BlockResampler> MakeForStrips(const Resampler& resampler, const InputRows& input,
                                              int x_begin, int x_end, int strip);

  /// The input rows before `in_end` have come. Next may then be called for the rows before
  /// Resampler::ReadyEnd, and needs no input row but the last WindowRows and a strip.
  void Take(int in_end);

  /// Writes the next `rows` output rows; dst's row r starts at dst + r * dst_row_bytes.
  void Next(int rows, uint8_t* dst, size_t dst_row_bytes);

 private:
  void HorizontalFirst(int rows, uint8_t* dst, size_t dst_row_bytes);
  void VerticalFirst(int rows, uint8_t* dst, size_t dst_row_bytes);
  void HorizontalOnly(int rows, uint8_t* dst, size_t dst_row_bytes);
  void FillRing(int in_end);
  void VerticalFromInput(int y, uint8_t* dst);
  uint8_t* BetweenRow(size_t i) { return between_.data() + i * between_row_bytes_; }

  static Result<BlockResampler> Make(const Resampler& resampler, const InputRows& input,
                                     int x_begin, int x_end, int y_begin, int strip);
  explicit BlockResampler(const InputRows& input) : input_(input) {}

  const Resampler* resampler_ = nullptr;
  InputRows input_;
  int in_rows_ = 0;  // input rows that have come
  simd::ResampleAxis horizontal_ = {}, vertical_ = {};
  simd::RowSpan span_ = {};
  int y_ = 0;                // next output row
  int in_row_ = 0;           // horizontal first: next input row for the ring
  size_t between_rows_ = 0;  // horizontal first: row r of the input lives at r modulo this
  size_t between_row_bytes_ = 0;
  Buffer between_;                      // rows that have had their first pass
  std::vector<const uint8_t*> window_;  // rows of one vertical window
};

}  // namespace mmcpp::resample
