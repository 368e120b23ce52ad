// Size rules that begin with the longer side. Pure arithmetic on sizes.
#pragma once

#include "mmcpp/status.h"
#include "transforms/size_rules.h"

namespace mmcpp::transforms {

/// Longest side that EvenLongestEdge gives.
constexpr int kMaxLongestEdge = 4096;

/// The longer side (of equal ones the width) becomes `edge`, the other is rounded down, made even
/// by adding, and at least 1. Equals get_resize_output_image_size of transformers 5.24's Idefics 3
/// and SmolVLM for edges up to its own bound. kInvalidArgument for an empty picture or an edge
/// outside 1 to kMaxLongestEdge.
Result<Size> EvenLongestEdge(int height, int width, int edge);

/// The longer side rounded up to whole tiles, the other what the ratio makes of that, rounded down
/// and then up to whole tiles. Equals resize_for_vision_encoder of the same. Sides must be those of
/// EvenLongestEdge, `tile` positive and at most kMaxLongestEdge. kInvalidArgument where a side of 1
/// vanishes by its ratio's rounding, which transformers refuses too.
Result<Size> CeilToTiles(Size size, int tile);

/// The longer side becomes `edge`, both are rounded half to even and at least `min_side`. Equals
/// JanusImageProcessor and DeepseekVLImageProcessor of transformers 5.24 and, with 0,
/// DeepseekOcr2ImageProcessor. kInvalidArgument for an empty picture, an `edge` that is not
/// positive, a negative `min_side` and a side that vanishes.
Result<Size> RoundLongestEdge(int height, int width, int edge, int min_side);

}  // namespace mmcpp::transforms
