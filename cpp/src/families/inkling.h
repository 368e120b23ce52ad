// Inkling, pictures only.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: image_token_id, patch_size; optional rescale_image_frac (none: pictures keep their size),
/// rescale_image_max_upscaled_long_edge, temporal_patch_size (2), pillow_generation (13 or 12) and
/// those of ItemPrompt.
Result<std::unique_ptr<const Family>> MakeInkling(SpecReader spec);

}  // namespace mmcpp::families
