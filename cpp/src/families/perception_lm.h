// PerceptionLM: the picture as a whole, then tiles of it.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: tile_size, max_tiles, tokens_per_tile, those of ItemPrompt and of PixelRules but resample
/// and pillow_generation, for there is torchvision's arithmetic alone; optional tiles (true; false:
/// the whole alone).
Result<std::unique_ptr<const Family>> MakePerceptionLm(SpecReader spec);

}  // namespace mmcpp::families
