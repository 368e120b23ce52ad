// Which grid of tiles PerceptionLM stretches a picture over. Pure arithmetic on sizes.
#pragma once

#include <vector>

#include "transforms/tile_grids.h"

namespace mmcpp::transforms {

/// Most tiles that PerceptionGrids counts.
constexpr int kMaxPerceptionTiles = 256;

/// Every grid of `max_tiles` tiles or fewer, those of one ratio behind each other, in the order in
/// which PerceptionLMImageProcessor of transformers 5.24 tries them. `max_tiles` is 1 to
/// kMaxPerceptionTiles.
std::vector<Grid> PerceptionGrids(int max_tiles);

/// Of the `grids` that hold the picture without reducing it, the last of those in which its shorter
/// side becomes longest; where there are none, of the closest ratio that is no further
/// from a square the one of most tiles. Equals _fit_image_to_canvas and _find_closest_aspect_ratio
/// of the same. Sides must be positive, `grids` those of PerceptionGrids.
Grid PerceptionGrid(int height, int width, int tile, const std::vector<Grid>& grids);

}  // namespace mmcpp::transforms
