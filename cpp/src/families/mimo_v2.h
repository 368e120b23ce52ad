// MiMo-V2.5, pictures only.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: image_token_id, patch_size, merge_size, temporal_patch_size, min_pixels, max_pixels,
/// image_mean and image_std (of bytes, 0 to 255); optional torch_threads (1: the number with which
/// torch is run; its results differ between one and several) and those of ItemPrompt.
Result<std::unique_ptr<const Family>> MakeMimoV2(SpecReader spec);

}  // namespace mmcpp::families
