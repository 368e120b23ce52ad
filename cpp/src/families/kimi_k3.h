// Kimi K3, pictures.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys, as the checkpoint's media_proc_cfg has them: image_token_id, patch_size,
/// merge_kernel_size, in_patch_limit, patch_limit_on_one_side, image_mean, image_std; optional
/// fixed_output_tokens, pillow_generation (13 or 12) and those of ItemPrompt.
Result<std::unique_ptr<const Family>> MakeKimiK3(SpecReader spec);

}  // namespace mmcpp::families
