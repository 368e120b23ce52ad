// Size rules that leave a picture's own proportions alone and pad it, to whole patches below and to
// the right or to a given canvas. Pure arithmetic on sizes.
#pragma once

#include <cstdint>

#include "mmcpp/status.h"
#include "transforms/size_rules.h"

namespace mmcpp::transforms {

/// What a picture is resized to, and what it is padded to then.
struct PaddedSize {
  Size content;
  Size canvas;
};

/// What bounds a grid of patches.
struct PatchBudget {
  int patch_size = 14;
  int merge_size = 2;
  uint64_t max_patches = 0;  ///< of a picture, by whole patches of the sides given
  int max_side = 512;        ///< along a side, in patches
};

/// Reduced until all bounds hold, never enlarged. Equals navit_resize of transformers 5.24's
/// Kimi_K25ImageProcessor. kInvalidArgument for an empty picture.
Result<PaddedSize> NavitSize(int height, int width, const PatchBudget& budget);

/// Reduced until max_patches holds; a padded side of max_side patches is an error, as is one that
/// vanishes. Equals Kimi-VL's own image processor with pad_input, as vLLM 0.33 describes it.
Result<PaddedSize> KimiVlSize(int height, int width, const PatchBudget& budget);

/// Sides rounded up to multiples of `factor`; beyond [min_pixels, max_pixels], which count `frames`
/// copies, the picture is enlarged or reduced. Equals smart_resize and resize of
/// transformers 5.24's Glm5NextImageProcessor for a still picture. kInvalidArgument for an empty
/// picture and for a budget below one block, kLimitExceeded for a picture of more than 2^50 pixels
/// or a result of more than 2^31 - 1 along a side.
Result<PaddedSize> Glm5NextSize(int height, int width, int factor, int frames, uint64_t min_pixels,
                                uint64_t max_pixels);

/// The picture enlarged or reduced until it touches two sides of `canvas`; the other two are
/// rounded half to even. Equals ImageOps.contain of Pillow. kInvalidArgument for an empty picture
/// and where a side vanishes, of which Pillow leaves nothing to be seen.
Result<Size> ContainSize(int height, int width, Size canvas);

}  // namespace mmcpp::transforms
