// Llama 3.2 Vision: tiles of a canvas, for cross attention.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: tile_size, max_tiles; those of PixelRules (bilinear unless `filter` says otherwise) and of
/// ItemPrompt.
Result<std::unique_ptr<const Family>> MakeMllama(SpecReader spec);

}  // namespace mmcpp::families
