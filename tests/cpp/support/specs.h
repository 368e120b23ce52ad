// Specs of real checkpoints.
#pragma once

#include "support/golden.h"

namespace mmcpp::test {

/// Qwen2-VL with a small pixel budget.
inline nlohmann::json QwenVlSpec() {
  return {{"family", "qwen_vl"},
          {"image_token_id", 9},
          {"patch_size", 14},
          {"merge_size", 2},
          {"temporal_patch_size", 2},
          {"min_pixels", 3136},
          {"max_pixels", 1003520},
          {"image_mean", {0.48145466, 0.4578275, 0.40821073}},
          {"image_std", {0.26862954, 0.26130258, 0.27577711}}};
}

}  // namespace mmcpp::test
