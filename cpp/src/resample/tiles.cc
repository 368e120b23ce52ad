// Tiles of a resize, in parallel over bands of rows.
#include "resample/tiles.h"

#include <algorithm>

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

}  // namespace mmcpp::resample
