// Tiles of a window, in parallel over bands of rows.
#include "resample/window.h"

#include <algorithm>
#include <string>

#include "base/ensure.h"
#include "par/par.h"
#include "resample/resampler.h"
#include "simd/kernels.h"

namespace mmcpp::resample {
namespace {

// Rows of a tile: enough for the kernels, few enough that a tile stays in cache.
constexpr int kTileRows = 4 * simd::kResampleRows;

Status CheckWindow(const Window& window, int out_height, int out_width) {
  if (Within(window, out_height, out_width)) return Ok{};
  return InvalidArgument("resize: no window of " + std::to_string(window.height) + "x" +
                         std::to_string(window.width) + " at " + std::to_string(window.y) + "," +
                         std::to_string(window.x) + " in " + std::to_string(out_height) + "x" +
                         std::to_string(out_width));
}

// Rows [begin, end) of the window, block of columns by block of columns.
Status Rows(const Resampler& resampler, const ImageView& image, const Window& window, int begin,
            int end, TileFn fn) {
  const int block_width = std::min(resampler.BlockWidth(1, kTileRows), window.width);
  const size_t row_bytes = static_cast<size_t>(block_width) * 3;
  MMCPP_ASSIGN(Buffer rows, Buffer::Allocate(row_bytes * static_cast<size_t>(kTileRows)));
  for (int x = 0; x < window.width; x += block_width) {
    const int x_end = std::min(x + block_width, window.width);
    MMCPP_ASSIGN(auto block, BlockResampler::Make(resampler, image, window.x + x, window.x + x_end,
                                                  window.y + begin));
    for (int y = begin; y < end; y += kTileRows) {
      const int height = std::min(kTileRows, end - y);
      block.Next(height, rows.data(), row_bytes);
      fn({y, x, height, x_end - x, rows.data(), row_bytes});
    }
  }
  return Ok{};
}

}  // namespace

Status ResizeWindow(const ImageView& image, int out_height, int out_width, Filter filter,
                    Convention convention, const Window& window, TileFn fn) {
  MMCPP_ASSIGN(const auto resampler,
               Resampler::Make(image, out_height, out_width, filter, convention));
  MMCPP_TRY(CheckWindow(window, out_height, out_width));
  const bool copy = image.height == out_height && image.width == out_width;
  return par::TryRanges(
      static_cast<size_t>(window.height), resampler.GrainRows(),
      [&](size_t begin, size_t end) -> Status {
        const int y = static_cast<int>(begin);
        if (!copy) return Rows(resampler, image, window, y, static_cast<int>(end), fn);
        fn({y, 0, static_cast<int>(end) - y, window.width,
            image.row(window.y + y) + static_cast<size_t>(window.x) * 3, image.row_bytes});
        return Ok{};
      });
}

}  // namespace mmcpp::resample
