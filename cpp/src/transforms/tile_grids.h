// Which grid of tiles a picture is cut into. Pure arithmetic on sizes.
#pragma once

#include "mmcpp/status.h"
#include "transforms/size_rules.h"

namespace mmcpp::transforms {

/// Tiles along each side.
struct Grid {
  int rows = 1, columns = 1;

  int count() const { return rows * columns; }
};

/// Most tiles a grid may have: the search is quadratic in it.
constexpr int kMaxGridTiles = 1024;

/// The grid of min_tiles to max_tiles tiles whose aspect ratio is closest to the picture's. Of
/// equal ones, in ascending order of tiles, a later one is taken while the picture has more than
/// half of its pixels. Equals get_optimal_tiled_canvas of transformers 5.24 (GotOcr2ImageProcessor,
/// which InternVL and Aya Vision use) and dynamic_preprocess of InternVL's own code. One tile if no
/// grid is allowed. kInvalidArgument for an empty picture or tile, or bounds outside 1 to
/// kMaxGridTiles.
Result<Grid> ClosestRatioGrid(int height, int width, Size tile, int min_tiles, int max_tiles);

}  // namespace mmcpp::transforms
