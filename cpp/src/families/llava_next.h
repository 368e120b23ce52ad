// Families that fit a picture into the best of a list of resolutions and cut that into tiles:
// LLaVA-NeXT (1.6), Granite Vision, LLaVA-OneVision.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: tile_size; image_grid_pinpoints, a list of [height, width] that are multiples of it;
/// tile_tokens (along a side of a tile), base_tokens (of the picture as a whole), those of
/// ItemPrompt and PixelRules; optional anyres_max (LLaVA-OneVision: tiles' worth of tokens beyond
/// which they are pooled) and batch_num_images (true: that tensor is made too, one picture each).
Result<std::unique_ptr<const Family>> MakeLlavaNext(SpecReader spec);

}  // namespace mmcpp::families
