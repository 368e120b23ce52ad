// Tiles of a resize: of a picture in memory in parallel over bands of rows; of rows that come one
// after another in parallel over blocks of columns, strip by strip.
#include "resample/tiles.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/ensure.h"
#include "par/par.h"
#include "resample/resampler.h"

namespace mmcpp::resample {
namespace {

// Bands [begin, end) of `unit` rows each, block of columns by block of columns.
Status Bands(const Resampler& resampler, const ImageView& image, int unit, int begin, int end,
             TileFn fn) {
  const int block_width = resampler.BlockWidth(unit, unit);
  const size_t row_bytes = static_cast<size_t>(block_width) * 3;
  MMCPP_ASSIGN(Buffer rows, Buffer::Allocate(row_bytes * static_cast<size_t>(unit)));
  for (int x = 0; x < resampler.out_width(); x += block_width) {
    const int x_end = std::min(x + block_width, resampler.out_width());
    MMCPP_ASSIGN(auto block, BlockResampler::Make(resampler, image, x, x_end, begin * unit));
    for (int y = begin * unit; y < std::min(end * unit, resampler.out_height()); y += unit) {
      const int height = std::min(unit, resampler.out_height() - y);
      block.Next(height, rows.data(), row_bytes);
      fn({y, x, height, x_end - x, rows.data(), row_bytes});
    }
  }
  return Ok{};
}

constexpr size_t kStripBytes = size_t{256} << 10;

// The input rows that are still needed, in a ring of whole strips.
class Strips {
 public:
  static Result<Strips> Make(const Resampler& resampler, RowSource* rows) {
    const auto row_bytes = [](int width) {
      return (static_cast<size_t>(width) * 3 + 63) / 64 * 64;
    };
    const int height = rows->height();
    Strips strips;
    strips.rows_ = rows;
    // Rows between the passes are kept for a strip, too.
    const size_t wider = row_bytes(std::max(rows->width(), resampler.out_width()));
    strips.strip_ = static_cast<int>(
        std::max<size_t>(kStripBytes / wider / simd::kResampleRows, 1) * simd::kResampleRows);
    const int64_t kept = RoundUp(resampler.WindowRows(), strips.strip_) + strips.strip_;
    strips.kept_ = static_cast<int>(std::min(kept, RoundUp(height, strips.strip_)));
    size_t bytes;
    if (!CheckedMul(row_bytes(rows->width()), static_cast<size_t>(strips.kept_), &bytes)) {
      return Error{ErrorCode::kOutOfMemory, "resize: input rows overflow memory"};
    }
    MMCPP_ASSIGN(strips.memory_, Buffer::Allocate(bytes));
    strips.view_ = {strips.memory_.data(), height, rows->width(), row_bytes(rows->width())};
    return strips;
  }

  int strip() const { return strip_; }
  InputRows input() const { return {view_, kept_}; }

  /// Reads the next strip and gives the number of rows read so far.
  Result<int> Read() {
    const int n = std::min(strip_, view_.height - read_);
    uint8_t* slot = memory_.data() + static_cast<size_t>(read_ % kept_) * view_.row_bytes;
    MMCPP_TRY(rows_->Read(n, slot, view_.row_bytes));
    return read_ += n;
  }

 private:
  static int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

  RowSource* rows_ = nullptr;
  int strip_ = 0, kept_ = 0, read_ = 0;
  Buffer memory_;
  ImageView view_;
};

// A block of columns on its way down.
class Column {
 public:
  static Result<Column> Make(const Resampler& resampler, const Strips& strips, int x, int x_end,
                             int unit) {
    MMCPP_ASSIGN(auto block, BlockResampler::MakeForStrips(resampler, strips.input(), x, x_end,
                                                           strips.strip()));
    Column column(std::move(block), resampler.out_height(), x, x_end, unit);
    MMCPP_ASSIGN(column.tile_, Buffer::Allocate(column.row_bytes_ * static_cast<size_t>(unit)));
    return column;
  }

  /// With `in_end` rows read, goes on to the output row y_end.
  void Advance(int in_end, int y_end, TileFn fn) {
    block_.Take(in_end);
    while (y_ < y_end) {
      const int top = y_ / unit_ * unit_, bottom = std::min(top + unit_, height_);
      const int n = std::min(y_end, bottom) - y_;
      block_.Next(n, tile_.data() + static_cast<size_t>(y_ - top) * row_bytes_, row_bytes_);
      y_ += n;
      if (y_ == bottom) fn({top, x_, bottom - top, x_end_ - x_, tile_.data(), row_bytes_});
    }
  }

 private:
  Column(BlockResampler block, int height, int x, int x_end, int unit)
      : block_(std::move(block)),
        height_(height),
        x_(x),
        x_end_(x_end),
        unit_(unit),
        row_bytes_(static_cast<size_t>(x_end - x) * 3) {}

  BlockResampler block_;
  int height_, x_, x_end_, unit_;
  size_t row_bytes_;
  int y_ = 0;
  Buffer tile_;
};

// As many blocks as there are threads, or more if the cache asks for it.
Result<std::vector<Column>> Columns(const Resampler& resampler, const Strips& strips, int unit) {
  const int width = resampler.out_width();
  const int units = (width - 1) / unit + 1;
  const int share = (units - 1) / static_cast<int>(par::Concurrency()) + 1;
  const int block_width =
      std::min<int64_t>(resampler.BlockWidth(unit, unit), int64_t{share} * unit);
  std::vector<Column> columns;
  for (int x = 0; x < width; x += block_width) {
    MMCPP_ASSIGN(auto column,
                 Column::Make(resampler, strips, x, std::min(x + block_width, width), unit));
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace

Status ResizeTiles(const ImageView& image, int out_height, int out_width, Filter filter,
                   Convention convention, int unit, TileFn fn) {
  MMCPP_ENSURE(unit > 0);
  MMCPP_ASSIGN(const auto resampler, Resampler::Make(image.height, image.width, out_height,
                                                     out_width, filter, convention));
  const size_t bands =
      (static_cast<size_t>(out_height) + static_cast<size_t>(unit) - 1) / static_cast<size_t>(unit);
  const size_t grain =
      (resampler.GrainRows() + static_cast<size_t>(unit) - 1) / static_cast<size_t>(unit);
  const bool copy = image.height == out_height && image.width == out_width;
  return par::TryRanges(bands, grain, [&](size_t begin, size_t end) -> Status {
    if (!copy) {
      return Bands(resampler, image, unit, static_cast<int>(begin), static_cast<int>(end), fn);
    }
    for (size_t band = begin; band < end; ++band) {
      const int y = static_cast<int>(band) * unit;
      fn({y, 0, std::min(unit, out_height - y), out_width, image.row(y), image.row_bytes});
    }
    return Ok{};
  });
}

Status ResizeTiles(RowSource* rows, int out_height, int out_width, Filter filter,
                   Convention convention, int unit, TileFn fn) {
  if (const ImageView* whole = rows->whole()) {
    return ResizeTiles(*whole, out_height, out_width, filter, convention, unit, fn);
  }
  MMCPP_ENSURE(unit > 0 && rows->channels() == 3);
  MMCPP_ASSIGN(const auto resampler, Resampler::Make(rows->height(), rows->width(), out_height,
                                                     out_width, filter, convention));
  MMCPP_ASSIGN(Strips strips, Strips::Make(resampler, rows));
  MMCPP_ASSIGN(std::vector<Column> columns, Columns(resampler, strips, unit));
  for (int in_end = 0, y = 0; in_end < rows->height();) {
    MMCPP_ASSIGN(in_end, strips.Read());
    y = resampler.ReadyEnd(y, in_end);
    par::ForRange(columns.size(), 1, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) columns[i].Advance(in_end, y, fn);
    });
  }
  return Ok{};
}

}  // namespace mmcpp::resample
