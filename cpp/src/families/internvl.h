// Families that cut a picture into tiles of one size and show it as a whole besides: InternVL 2 to
// 3.5 and what reuses its rule, Aya Vision, GOT-OCR2.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: tile_height, tile_width, min_tiles, max_tiles (1: never cut), tokens_per_tile, those of
/// ItemPrompt and PixelRules; optional use_thumbnail (true: the picture as a whole is a last tile,
/// if there are others), tile_token_ids (the i-th stands before the tokens of tile i) and
/// thumbnail_token_ids (one or none, before those of the thumbnail or of the only tile);
/// tile_end_token_ids behind every tile's; grid_rule "closest_ratio" (the default) or
/// "least_enlargement".
Result<std::unique_ptr<const Family>> MakeInternVl(SpecReader spec);

}  // namespace mmcpp::families
