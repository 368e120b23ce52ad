// Which canvas of whole tiles a picture is put on, and how large it is there. Pure arithmetic on
// sizes.
#pragma once

#include "mmcpp/status.h"
#include "transforms/size_rules.h"
#include "transforms/tile_grids.h"

namespace mmcpp::transforms {

/// Whose rule; all of transformers 5.24. They differ where canvases are equally good, in precision,
/// and where rounding decides.
enum class CanvasRule : uint8_t {
  kCohere2,  ///< Cohere2VisionImageProcessor: double; of equal canvases the narrower
  kMllama,   ///< MllamaImageProcessor: double; of equal canvases the wider
  kLlama4,   ///< Llama4ImageProcessor: as kMllama in float, as are scales towards a canvas that is
             ///< smaller than the picture
};

/// The canvas of at most `max_tiles` square tiles into which the picture fits with the least
/// enlargement or, where it must be reduced in all of them, with the least reduction; of equal ones
/// that of the fewest tiles. kInvalidArgument for an empty picture, a tile outside 1 to 8192 or
/// max_tiles outside 1 to kMaxGridTiles.
Result<Grid> CanvasGrid(int height, int width, int tile, int max_tiles, CanvasRule rule);

/// The size of the picture on a canvas of `grid`: as it is, but reduced to the canvas or enlarged
/// to one tile, at its ratio, the other side rounded down and at least 1. Equals
/// get_image_size_fit_to_canvas (kMllama) and get_max_res_without_distortion (kLlama4). Arguments
/// are those of CanvasGrid and its result.
Size FitCanvas(int height, int width, int tile, Grid grid, CanvasRule rule);

}  // namespace mmcpp::transforms
