// Tiles of a resize: of a picture in memory in parallel over bands of rows; of rows that come one
// after another in parallel over blocks of columns, strip by strip.
#include "resample/tiles.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "par/par.h"
#include "resample/resampler.h"
#include "resample/strips.h"

namespace mmcpp::resample {
namespace {

// A block of columns on its way down, tile by tile.
class Column {
 public:
  static Result<Column> Make(CanvasBlock block, int canvas_height, int x, int unit) {
    Column column(std::move(block), canvas_height, x, unit);
    MMCPP_ASSIGN(column.tile_, Buffer::Allocate(column.row_bytes_ * static_cast<size_t>(unit)));
    return column;
  }

  void Take(int in_end) { block_.Take(in_end); }

  /// Goes on to the canvas's row y_end.
  void Advance(int y_end, TileFn fn) {
    while (block_.y() < y_end) {
      const int top = block_.y() / unit_ * unit_, bottom = std::min(top + unit_, height_);
      block_.Next(std::min(y_end, bottom) - block_.y(),
                  tile_.data() + static_cast<size_t>(block_.y() - top) * row_bytes_, row_bytes_);
      if (block_.y() < bottom) return;
      fn({top, x_, bottom - top, block_.columns(), tile_.data(), row_bytes_});
    }
  }

 private:
  Column(CanvasBlock block, int canvas_height, int x, int unit)
      : block_(std::move(block)),
        height_(canvas_height),
        x_(x),
        unit_(unit),
        row_bytes_(static_cast<size_t>(block_.columns()) * 3) {}

  CanvasBlock block_;
  int height_, x_, unit_;
  size_t row_bytes_;
  Buffer tile_;
};

// Of a canvas, as Resampler::BlockWidth.
int BlockWidth(const Resampler& resampler, const Canvas& canvas, int unit) {
  const int width = resampler.BlockWidth(unit, unit);
  return width < resampler.out_width() ? width : canvas.width;
}

// Bands [begin, end) of `unit` rows each, block of columns by block of columns.
Status Bands(const Resampler& resampler, const Canvas& canvas, const ImageView& image, int unit,
             int begin, int end, TileFn fn) {
  const int block_width = BlockWidth(resampler, canvas, unit);
  for (int x = 0; x < canvas.width; x += block_width) {
    const int x_end = std::min(x + block_width, canvas.width);
    MMCPP_ASSIGN(auto block, CanvasBlock::Make(resampler, canvas, image, x, x_end, begin * unit));
    MMCPP_ASSIGN(auto column, Column::Make(std::move(block), canvas.height, x, unit));
    column.Advance(std::min(end * unit, canvas.height), fn);
  }
  return Ok{};
}

// As many blocks as there are threads, or more if the cache asks for it.
Result<std::vector<Column>> Columns(const Resampler& resampler, const Canvas& canvas,
                                    const Strips& strips, int unit) {
  const int units = (canvas.width - 1) / unit + 1;
  const int share = (units - 1) / static_cast<int>(par::Concurrency()) + 1;
  const auto block_width = static_cast<int>(
      std::min<int64_t>(BlockWidth(resampler, canvas, unit), int64_t{share} * unit));
  std::vector<Column> columns;
  for (int x = 0; x < canvas.width; x += block_width) {
    MMCPP_ASSIGN(auto block, CanvasBlock::MakeForStrips(resampler, canvas, strips.input(), x,
                                                        std::min(x + block_width, canvas.width),
                                                        strips.strip()));
    MMCPP_ASSIGN(auto column, Column::Make(std::move(block), canvas.height, x, unit));
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace

Status ResizeTiles(const ImageView& image, const Canvas& canvas, Filter filter,
                   Convention convention, int unit, TileFn fn) {
  MMCPP_ENSURE(unit > 0);
  MMCPP_ASSIGN(const auto resampler, Resampler::Make(image, canvas.picture.height,
                                                     canvas.picture.width, filter, convention));
  MMCPP_TRY(CheckCanvas(canvas));
  const auto unit_rows = static_cast<size_t>(unit);
  const size_t bands = (static_cast<size_t>(canvas.height) + unit_rows - 1) / unit_rows;
  const size_t grain = (resampler.GrainRows() + unit_rows - 1) / unit_rows;
  const bool views =
      canvas.covered() && image.height == canvas.height && image.width == canvas.width;
  return par::TryRanges(bands, grain, [&](size_t begin, size_t end) -> Status {
    if (!views) {
      return Bands(resampler, canvas, image, unit, static_cast<int>(begin), static_cast<int>(end),
                   fn);
    }
    for (size_t band = begin; band < end; ++band) {
      const int y = static_cast<int>(band) * unit;
      fn({y, 0, std::min(unit, canvas.height - y), canvas.width, image.row(y), image.row_bytes});
    }
    return Ok{};
  });
}

Status ResizeTiles(RowSource* rows, const Canvas& canvas, Filter filter, Convention convention,
                   int unit, TileFn fn) {
  if (const ImageView* whole = rows->whole()) {
    return ResizeTiles(*whole, canvas, filter, convention, unit, fn);
  }
  MMCPP_ENSURE(unit > 0 && rows->channels() == 3);
  const Window& picture = canvas.picture;
  MMCPP_ASSIGN(const auto resampler, Resampler::Make(rows->height(), rows->width(), picture.height,
                                                     picture.width, filter, convention));
  MMCPP_TRY(CheckCanvas(canvas));
  MMCPP_ASSIGN(Strips strips, Strips::Make(resampler, rows));
  MMCPP_ASSIGN(std::vector<Column> columns, Columns(resampler, canvas, strips, unit));
  for (int in_end = 0, y = 0; in_end < rows->height();) {
    MMCPP_ASSIGN(in_end, strips.Read());
    y = resampler.ReadyEnd(y, in_end);
    const int y_end = y < picture.height ? picture.y + y : canvas.height;
    par::ForRange(columns.size(), 1, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        columns[i].Take(in_end);
        columns[i].Advance(y_end, fn);
      }
    });
  }
  return Ok{};
}

}  // namespace mmcpp::resample
