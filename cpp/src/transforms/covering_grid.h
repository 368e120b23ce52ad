// How Ovis2 chooses a grid of tiles. Pure arithmetic on sizes.
#pragma once

#include "mmcpp/status.h"
#include "transforms/tile_grids.h"

namespace mmcpp::transforms {

/// The smallest grid of at most max_tiles tiles that shows more than 0.9 of the picture's pixels
/// when each tile shows its part of the picture no larger than `side` along the longer side; of
/// equally small ones the one that shows most, which is also taken of all grids if none shows
/// enough. Equals get_min_tile_covering_grid of transformers 5.24 (Ovis2) as its image processors
/// read the result: what was counted as rows stands for columns. kInvalidArgument for an empty
/// picture or tile, or max_tiles outside 1 to kMaxGridTiles.
Result<Grid> CoveringGrid(int height, int width, int side, int max_tiles);

}  // namespace mmcpp::transforms
