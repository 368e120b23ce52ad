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
