// How Muse chooses a picture's grid of blocks. Pure arithmetic on sizes.
#pragma once

#include <cstdint>

#include "mmcpp/status.h"
#include "transforms/size_rules.h"

namespace mmcpp::transforms {

/// Both sides rounded to multiples of `block`, each down or up, whatever is closest to the
/// picture's ratio with at most max_blocks blocks in all, one at least along a side; a picture of
/// more is reduced first. Equals smart_resize of transformers 5.24 (MuseGlimmerImageProcessor),
/// where of equally close sizes the first in the order of a Python set is taken: that of CPython
/// from 3.8 on, 64 bits. kInvalidArgument for an empty picture, kLimitExceeded for more than 2^20
/// blocks along a side.
Result<Size> NearestGridSize(int height, int width, int block, uint64_t max_blocks);

}  // namespace mmcpp::transforms
