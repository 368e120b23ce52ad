// Ovis2: the picture as a whole, then tiles of it.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: tile_size in pixels, max_tiles (1: never cut), tokens_per_tile; those of PixelRules and of
/// ItemPrompt. Optional: grid_rule (`covering`, or `closest_ratio`, of min_tiles at least), and the
/// marks of the prompt, none by default: whole_token_ids behind the picture as a whole,
/// column_token_ids between tiles of a row, row_token_ids between rows.
Result<std::unique_ptr<const Family>> MakeOvis2(SpecReader spec);

}  // namespace mmcpp::families
