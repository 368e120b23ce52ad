// Qwen2-VL, 2.5-VL, 3-VL and 3.5 and what reuses their mechanism, pictures only.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: image_token_id, patch_size, merge_size, temporal_patch_size, min_pixels, max_pixels,
/// image_mean, image_std; optional resample ("aten_u8", the arithmetic of transformers' torchvision
/// backend, or "pil"), pillow_generation (13 or 12, for "pil"), smart_resize ("transformers",
/// "reference", "glm", "paddleocr", "keye", "glm5_next" or "muse"; "navit" and "kimi_vl" have
/// max_patches and max_patches_per_side in place of pixels), filter ("bicubic", "bilinear" or
/// "lanczos"), copies_first (true: inside a patch the copies stand outside the channels),
/// patch_order ("block", "raster" for rows of patches, or "raster_4d" with features [patches, 3 *
/// temporal_patch_size, patch_size, patch_size]), positions
/// ("mrope", "plain" or "xdrope"; of the first two row_tokens, 0 or 1), image_merge_sizes (true:
/// that tensor is made too) and those of ItemPrompt.
Result<std::unique_ptr<const Family>> MakeQwenVl(SpecReader spec);

}  // namespace mmcpp::families
