// Granite-Docling of its own class: tiles of a page, and the page as a whole.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: tile_height, tile_width, min_tiles, max_tiles (1: never cut), tokens_per_tile, those of
/// ItemPrompt, PixelRules and TileMarks, of which last_row_end_token_ids stand where the page as a
/// whole comes next.
Result<std::unique_ptr<const Family>> MakeGraniteDocling(SpecReader spec);

}  // namespace mmcpp::families
