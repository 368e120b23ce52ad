// Size rules whose bound is a number of patches. Pure arithmetic on sizes.
#pragma once

#include "mmcpp/status.h"
#include "transforms/size_rules.h"

namespace mmcpp::transforms {

/// Most patches a budget may have.
constexpr int kMaxPatchBudget = 1 << 20;

/// The largest size of the picture's ratio whose sides, rounded up to multiples of `patch`, have at
/// most `max_patches` patches, found by halving an interval of scales. Equals
/// get_image_size_for_max_num_patches of transformers 5.24 (Siglip2ImageProcessor).
/// kInvalidArgument for an empty picture, a patch or budget outside 1 to kMaxPatchBudget, or a
/// picture so large that no scale of the interval is small enough.
Result<Size> FitPatchCount(int height, int width, int patch, int max_patches);

/// The largest size of the picture's ratio with at most `max_patches` patches, its sides rounded
/// down to multiples of patch * pool; a side that would vanish becomes one such multiple and the
/// other as many as the ratio has, rounded down, within max_patches / pool^2. Equals
/// get_aspect_ratio_preserving_size of transformers 5.24 (Gemma4ImageProcessor).
/// kInvalidArgument for an empty picture, a patch, pool or budget outside 1 to kMaxPatchBudget, or
/// where transformers raises: both sides vanish, or the result is over the budget.
Result<Size> FitPatchArea(int height, int width, int patch, int pool, int max_patches);

}  // namespace mmcpp::transforms
