// Building blocks for the prompt side of a family: expanding placeholders into what stands for the
// items, and position ids of M-RoPE and XD-RoPE. Pure arithmetic on ids and sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mmcpp/export.h"
#include "mmcpp/family.h"
#include "mmcpp/span.h"
#include "mmcpp/status.h"

namespace mmcpp {

struct ExpandedPrompt {
  std::vector<int64_t> input_ids;
  std::vector<TokenRange> offsets;  ///< offsets[i] is where item i's content stands
};

/// Expands `input_ids` as `layout` says. Accepted only if the segments consume every source token
/// once and in order, every media segment stands for at least one token, and each of `item_count`
/// items is placed once; rules and messages are those of the reference crate (sglang-mm 0.5.23).
/// Everything is checked and sized before the result is allocated. Time and memory are linear in
/// the result.
/// Errors: kInvalidArgument; kLimitExceeded if the result has more than `max_tokens` tokens or than
/// 32-bit offsets can count.
MMCPP_EXPORT Result<ExpandedPrompt> ApplyLayout(Span<const int64_t> input_ids,
                                                const TokenLayout& layout, size_t item_count,
                                                uint64_t max_tokens);

/// The layout in which the i-th `placeholder` of `input_ids` becomes `counts[i]` of itself.
/// kInvalidArgument unless there are as many placeholders as counts.
MMCPP_EXPORT Result<TokenLayout> LayoutByPlaceholder(Span<const int64_t> input_ids,
                                                     int64_t placeholder,
                                                     Span<const uint64_t> counts);

/// The layout in which the i-th `placeholder` of `input_ids` becomes `patterns[i]`.
/// kInvalidArgument unless there are as many placeholders as patterns.
MMCPP_EXPORT Result<TokenLayout> LayoutByPattern(Span<const int64_t> input_ids, int64_t placeholder,
                                                 std::vector<TokenPattern> patterns);

/// Longest prompt that MropePositions takes; its result is 24 bytes a token.
constexpr size_t kMaxMropeTokens = size_t{1} << 26;

/// M-RoPE position ids of a prompt of `length` tokens whose item i, a still picture of grids[i]
/// patches merged by `merge_size` on both sides, stands at offsets[i]. Text advances all three axes
/// together; a picture's token (t, h, w) is at base + (t, h, w), and what follows it continues at
/// base + max(t, h/merge, w/merge). Equals get_rope_index of transformers 5.24's Qwen2-VL, 2.5-VL
/// and 3-VL for pictures. Items must be in prompt order.
/// Errors: kInvalidArgument (ranges out of order or bounds, a span that its grid does not fill,
/// merge_size 0), kLimitExceeded (length over kMaxMropeTokens), kOutOfMemory.
MMCPP_EXPORT Result<MRope> MropePositions(size_t length, Span<const TokenRange> offsets,
                                          Span<const GridThw> grids, uint32_t merge_size);

/// A picture or a video of a prompt, as VideoMropePositions counts it.
struct MropeItem {
  TokenRange range;
  GridThw grid;                 ///< in patches
  uint32_t temporal_merge = 1;  ///< steps of grid.t that one step of tokens stands for
  float time_step = 1;          ///< positions from one step of tokens to the next
};

/// The same with videos, as get_rope_index of transformers 5.24 has them: a token (t, h, w) is at
/// base + (t * time_step, h, w), in float32 and cut to an integer, and what follows the item goes
/// on at base + max(h/merge, w/merge), however long the video is. Qwen2-VL: a time_step of 1;
/// Qwen2.5-VL: tokens_per_second * second_per_grid_ts, a product of float32, and 1 for pictures;
/// Ernie-4.5-VL: 1, and temporal_merge for videos. Where timestamps stand between the frames, as in
/// Qwen3-VL and the GLM models, each frame is an item with a t of 1.
/// Errors: as MropePositions, and kInvalidArgument for a temporal_merge of 0 or a time_step that is
/// negative, no number, or leads beyond 2^31.
MMCPP_EXPORT Result<MRope> VideoMropePositions(size_t length, Span<const MropeItem> items,
                                               uint32_t merge_size);

/// XD-RoPE position ids int64 [axes, length] of a prompt whose item i, a picture of grids[i]
/// patches merged by `merge_size`, stands at offsets[i] as rows of grid.w/merge + 1 tokens, with or
/// without one more token before and one behind all rows. Every token counts on all axes together,
/// but inside rows the last three are column, row and index of the picture. Equals get_rope_index
/// of transformers 5.24's HunYuanVL. Items must be in prompt order; `axes` is 3 to kMaxXdropeAxes.
/// Errors: as MropePositions.
constexpr uint32_t kMaxXdropeAxes = 8;
MMCPP_EXPORT Result<MRope> XdropePositions(size_t length, Span<const TokenRange> offsets,
                                           Span<const GridThw> grids, uint32_t merge_size,
                                           uint32_t axes);

}  // namespace mmcpp
