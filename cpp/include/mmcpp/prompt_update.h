// Which tokens of a prompt belong to which media item, stated as updates: what is looked for and
// what stands there afterwards. Planning, expanding, finding and detecting; pure functions of ids.
// Everything here works on any sequence of 64-bit symbols: token ids, or the code points of a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "mmcpp/export.h"
#include "mmcpp/family.h"
#include "mmcpp/span.h"
#include "mmcpp/status.h"

namespace mmcpp {

enum class UpdateMode : uint8_t {
  kInsert,   ///< the content goes right after the target, which stays
  kReplace,  ///< the content stands instead of the target
};

/// Where an update applies. kTokens: where `tokens` occur (nowhere when they are none). The others
/// are places in the prompt, at which inserting and replacing are the same: kStart is 0, kEnd is
/// the prompt's length, kPrefix is behind `tokens` if the prompt begins with them.
struct UpdateTarget {
  enum class Kind : uint8_t { kTokens, kStart, kPrefix, kEnd };
  Kind kind = Kind::kTokens;
  std::vector<int64_t> tokens;
};

/// What stands for an item.
struct UpdateContent {
  std::vector<int64_t> tokens;
  std::vector<bool> embed_mask;  ///< which tokens receive embeddings; empty means all
};

struct PromptUpdate {
  UpdateMode mode = UpdateMode::kReplace;
  UpdateTarget target;
  UpdateContent content;
};

/// The updates of one modality: items[i] lists alternatives for item i, of which the first that
/// applies is taken. Modalities are given in order of priority.
struct ModalityUpdates {
  std::string modality;
  std::vector<std::vector<PromptUpdate>> items;
  /// Further token sequences that are placeholders of this modality wherever they occur, so that
  /// a prompt for no item at all is checked too; the targets of replacements are without this.
  std::vector<std::vector<int64_t>> placeholders;
};

/// Whose rules a plan follows.
enum class UpdateRules : uint8_t {
  /// Places are those of the given prompt, and no update moves the scan of another: see
  /// PlanUpdates.
  kFixed,
  /// vLLM 0.33's rounds, faults included: start() emits the prompt again, end() strands what comes
  /// after it, an insertion hides what stands before it.
  kVllm,
};

constexpr size_t kNoAlternative = std::numeric_limits<size_t>::max();

/// One update of a plan: source tokens [begin, end) give way to the content; begin == end inserts.
struct PlannedUpdate {
  size_t modality = 0, item = 0, alternative = 0;
  size_t begin = 0, end = 0;
};

/// A placeholder that no item uses; source tokens [begin, end).
struct SurplusPlaceholder {
  size_t modality = 0;
  size_t begin = 0, end = 0;
};

struct UpdatePlan {
  std::vector<PlannedUpdate> updates;  ///< in the order of the expanded prompt
  /// applied[m][i]: the alternative used for item i of modality m, or kNoAlternative.
  std::vector<std::vector<size_t>> applied;
  std::vector<SurplusPlaceholder> surplus;  ///< in prompt order
};

/// Decides which update applies where, without changing anything.
///
/// One pass from left to right: the leftmost match wins, then the shorter one, then the earlier
/// item. A token replacement takes one item; an insertion, and any update at a place, takes every
/// item of the same alternatives at once, in item order. Replaced tokens and the kept target of an
/// insertion never overlap. Content is not searched. An item whose updates match nowhere is left
/// out; items of different targets need not stand in item order.
///
/// Time is linear in prompt and updates (times the square root of the targets' total length in the
/// worst case of nested targets); kVllm is so for replacements of tokens and may need a search per
/// item otherwise.
/// Errors: kInvalidArgument (a mask of another length than its content), kLimitExceeded (targets of
/// more than 2^31 tokens together), kOutOfMemory.
MMCPP_EXPORT Result<UpdatePlan> PlanUpdates(Span<const int64_t> prompt,
                                            Span<const ModalityUpdates> updates,
                                            UpdateRules rules = UpdateRules::kFixed);

/// Where an item's content stands: tokens [start, start + length). An empty content has no
/// placement.
struct Placement {
  size_t modality = 0, item = 0, alternative = 0;
  size_t start = 0, length = 0;
};

struct UpdatedPrompt {
  std::vector<int64_t> tokens;
  std::vector<Placement> placements;  ///< by modality, then item
};

/// Carries out a plan that was made for the same prompt and updates.
/// Errors: kInvalidArgument (a plan of something else), kLimitExceeded (a result of more than
/// `max_tokens`), kOutOfMemory.
MMCPP_EXPORT Result<UpdatedPrompt> ApplyPlan(
    Span<const int64_t> prompt, Span<const ModalityUpdates> updates, const UpdatePlan& plan,
    uint64_t max_tokens = std::numeric_limits<uint64_t>::max());

/// The plan as a driver's layout, for Family::Layout: items are numbered through all modalities in
/// order; an item's content range runs from its first to its last embedded token.
/// Errors: kInvalidArgument where a layout cannot say it: an item without a place, an empty content
/// or mask, a prompt emitted twice (kVllm).
MMCPP_EXPORT Result<TokenLayout> LayoutFromPlan(Span<const int64_t> prompt,
                                                Span<const ModalityUpdates> updates,
                                                const UpdatePlan& plan);

/// kInvalidArgument unless every item has a place and a content that is not empty, and, with
/// `refuse_surplus`, every placeholder an item. Error::item is the item's number through all
/// modalities; the message names the modality, both counts and, for a placeholder left over, its
/// position.
MMCPP_EXPORT Status CheckPlan(Span<const ModalityUpdates> updates, const UpdatePlan& plan,
                              bool refuse_surplus);

/// Every occurrence of `target` from `start` on, left to right, none overlapping the one before;
/// begins of the matches. An empty target occurs nowhere.
MMCPP_EXPORT std::vector<size_t> FindMatches(Span<const int64_t> prompt, Span<const int64_t> target,
                                             size_t start = 0);

/// Finds the contents of items in an expanded prompt. From left to right, at each position each
/// modality's first item not yet found, its alternatives in order; a full match is taken and the
/// search goes on behind it. An item that is nowhere ends the search of its modality. Empty
/// contents are skipped. Equals vLLM 0.33's search for placeholders, in linear time.
/// Returns placements by modality, then item. Errors: kInvalidArgument (a mask of another length),
/// kOutOfMemory.
MMCPP_EXPORT Result<std::vector<Placement>> FindPlaceholders(Span<const int64_t> prompt,
                                                             Span<const ModalityUpdates> updates);

enum class UpdateState : uint8_t { kApplied, kNotApplied, kPartial };

/// "applied", "not_applied", "partial".
MMCPP_EXPORT const char* UpdateStateName(UpdateState state) noexcept;

constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

/// An item whose content is not where it should be.
struct MissingItem {
  size_t modality = 0, item = 0;
  size_t target_begin = kNowhere, target_end = kNowhere;  ///< its unapplied target, if that stands
  size_t content_start = kNowhere;  ///< its content out of order or overlapping, if that stands
};

struct UpdateDetection {
  UpdateState state = UpdateState::kApplied;
  /// The prompt may as well be read as not applied at all; `reason` says why.
  bool ambiguous = false;
  std::string reason;
  std::vector<Placement> found;             ///< contents, by modality, then item
  std::vector<MissingItem> missing;         ///< by modality, then item
  std::vector<SurplusPlaceholder> surplus;  ///< placeholders outside contents, used by no item
};

/// Tells whether a prompt already contains what the updates would make of it. kApplied: all
/// contents stand in item order; kNotApplied: none does; kPartial: some do. Ambiguous when the
/// targets of all items stand there too and leave no more placeholders over than the contents do,
/// as when content and target are the same. Without items the state is kApplied.
/// Linear in prompt and updates. Errors: as PlanUpdates.
MMCPP_EXPORT Result<UpdateDetection> DetectUpdates(Span<const int64_t> prompt,
                                                   Span<const ModalityUpdates> updates);

}  // namespace mmcpp
