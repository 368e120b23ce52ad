// DeepSeek-VL with two encoders: every picture at a high and a low resolution.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: high_res_size and size (sides of squares), min_padded_side, tokens_per_image, those of
/// ItemPrompt and PixelRules, high_res_image_mean, high_res_image_std; optional high_res_filter,
/// high_res_background (black).
Result<std::unique_ptr<const Family>> MakeDeepseekVlHybrid(SpecReader spec);

}  // namespace mmcpp::families
