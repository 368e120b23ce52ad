// DeepSeek-V4.1, pictures.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys, as the checkpoint's config.json has them: image_token_id, vision_patch_size,
/// vision_downsample_ratio, vision_min_pixels, vision_max_n_token; optional vision_max_wh_ratio
/// (none: no picture is stretched), pillow_generation (13 or 12) and those of ItemPrompt.
Result<std::unique_ptr<const Family>> MakeDsv41(SpecReader spec);

}  // namespace mmcpp::families
