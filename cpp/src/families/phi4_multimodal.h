// Phi-4-multimodal: a grid of tiles under the picture at its own ratio, and the whole of it.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: those of ItemPrompt; tile_size, patch_size, max_tiles (of the grid); those of
/// PixelRules, of which resample is `aten_u8` and filter, that of the picture on its grid,
/// `bilinear`.
/// Feature [1, 1 + tiles, 3, side, side], the whole first and then tiles row by row; of a batch
/// padded with zero tiles. Beside it image_sizes int64 [2], the grid's height and width in pixels;
/// image_attention_mask f32 [1 + tiles, side / patch, side / patch], 1 for patches that are not
/// padding alone, padded with ones; num_img_tokens int64 [].
Result<std::unique_ptr<const Family>> MakePhi4Multimodal(SpecReader spec);

}  // namespace mmcpp::families
