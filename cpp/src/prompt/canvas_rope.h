// Canvas M-RoPE: positions of a picture as a whole and of slices of it, all on one canvas.
#pragma once

#include <cstdint>

#include "mmcpp/family.h"
#include "mmcpp/span.h"
#include "mmcpp/status.h"

namespace mmcpp::prompt {

/// Rows and columns.
struct CanvasGrid {
  uint32_t h = 0, w = 0;
};

/// A picture in an expanded prompt: a mark, its tokens as a whole, a mark; then row by row slices
/// between two marks each, with one more mark between rows.
struct CanvasPicture {
  TokenRange range;         ///< all of it, marks included
  CanvasGrid whole, slice;  ///< in tokens
  CanvasGrid slices;        ///< how many; 0 x 0 if there are none
};

/// Position ids int64 [3, length] of an expanded prompt. A picture's slices make up its canvas, and
/// the tokens of the picture as a whole are spread over it, rounded as torch.linspace does; marks
/// stand at corners. `marks` are the ids of all five: those that follow a picture, also in text,
/// belong to it and do not count. Equals get_rope_index of transformers 5.24's MiniCPM-V 4.7 for
/// pictures. Items must be in prompt order.
/// Errors: as MropePositions.
Result<MRope> CanvasPositions(Span<const int64_t> input_ids, Span<const CanvasPicture> pictures,
                              Span<const int64_t> marks);

}  // namespace mmcpp::prompt
