// Families that resize a picture to whole tiles, twice, and show it reduced to one tile behind
// them: Idefics 3, SmolVLM.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: longest_edge of the picture and tile_size, in pixels; tokens_per_tile; those of PixelRules
/// (lanczos unless `filter` says otherwise), image_token_id, placeholder_token_id. Optional:
/// split (true; else one tile and no more) and the marks of the prompt, none by default:
/// fake_token_ids before every tile and at the end, global_token_ids before the picture as a whole,
/// row_column_token_ids (row by row, mark_columns of them in each), row_end_token_ids behind every
/// row of tiles but the last and last_row_end_token_ids behind that.
Result<std::unique_ptr<const Family>> MakeIdefics3(SpecReader spec);

}  // namespace mmcpp::families
