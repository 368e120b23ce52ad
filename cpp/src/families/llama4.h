// Llama 4: tiles of a canvas, and behind them the picture as a whole.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: tile_size, max_tiles, tokens_per_tile; those of PixelRules but resample and
/// pillow_generation, for there is torchvision's arithmetic alone (bilinear unless `filter` says
/// otherwise), and of ItemPrompt. Optional marks of the prompt, none by default: column_token_ids
/// between tiles of a row, row_token_ids behind each row, global_token_ids before the whole.
Result<std::unique_ptr<const Family>> MakeLlama4(SpecReader spec);

}  // namespace mmcpp::families
