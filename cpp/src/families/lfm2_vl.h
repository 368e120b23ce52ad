// LFM2-VL: patches of the picture as a whole or, of a large one, of its tiles too.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: patch_size, downsample_factor, min_image_tokens, max_image_tokens, max_pixels_tolerance,
/// tile_size, min_tiles, max_tiles (both 1: never cut), those of PixelRules but resample and
/// pillow_generation, for there is torchvision's arithmetic alone (bilinear unless `filter` says
/// otherwise), and of ItemPrompt. Optional use_thumbnail (true), pads_to_tile (whether features
/// have the patches of a tile, where these are more; true if pictures are cut), and marks of the
/// prompt, none by default: row_column_token_ids, mark_columns for each row, before the tokens of a
/// tile, and thumbnail_token_ids before those of the whole where there are tiles.
Result<std::unique_ptr<const Family>> MakeLfm2Vl(SpecReader spec);

}  // namespace mmcpp::families
