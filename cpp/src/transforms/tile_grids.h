// Which grid of tiles a picture is cut into. Pure arithmetic on sizes.
#pragma once

#include <cstdint>
#include <vector>

#include "mmcpp/status.h"
#include "transforms/size_rules.h"

namespace mmcpp::transforms {

/// Tiles along each side.
struct Grid {
  int rows = 1, columns = 1;

  int count() const { return rows * columns; }
};

/// Which of two grids of the same ratio is taken.
enum class GridTie : uint8_t {
  kIfPixels,   ///< the one of more tiles, while the picture has more than half of its pixels
  kMoreTiles,  ///< the one of more tiles; sglang 0.5.23's InternVLProcessor
};

/// Most tiles a grid may have: the search is quadratic in it.
constexpr int kMaxGridTiles = 1024;

/// The grid of min_tiles to max_tiles tiles whose aspect ratio is closest to the picture's. Of
/// equal ones, in ascending order of tiles, a later one is taken while the picture has more than
/// half of its pixels. Equals get_optimal_tiled_canvas of transformers 5.24 (GotOcr2ImageProcessor,
/// which InternVL and Aya Vision use) and dynamic_preprocess of InternVL's own code; with at most
/// 16 tiles along a side of GraniteDoclingImageProcessor. One tile if no grid is allowed, as
/// where min_tiles is over max_tiles. kInvalidArgument for an empty picture or tile, or bounds
/// outside 1 to kMaxGridTiles.
Result<Grid> ClosestRatioGrid(int height, int width, Size tile, int min_tiles, int max_tiles,
                              GridTie tie = GridTie::kIfPixels, int max_side = kMaxGridTiles);

/// Longest side of a resolution, in pixels.
constexpr int kMaxCanvasSide = 1 << 15;

/// The resolution that keeps most of the picture's pixels, of equal ones the one that wastes least,
/// of equal ones the first. Equals select_best_resolution of transformers 5.24. Sides must be
/// positive and at most kMaxCanvasSide. kInvalidArgument for an empty picture or no resolutions.
Result<Size> BestResolution(int height, int width, const std::vector<Size>& resolutions);

/// The size of the picture when it is enlarged or reduced until it touches two sides of `canvas`;
/// the other two are rounded up. Equals get_patch_output_size of transformers 5.24.
Size FitInside(int height, int width, Size canvas);

}  // namespace mmcpp::transforms
