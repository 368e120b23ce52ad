// Where contents stand in a prompt that is already expanded. Each modality's current item is
// searched with an automaton of its own; the one whose next match could begin first reads on, so
// that no search reads further than the leftmost match needs.
#include <algorithm>
#include <tuple>

#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "mmcpp/prompt_update.h"
#include "prompt/content_scan.h"
#include "prompt/planner.h"
#include "prompt/single_search.h"

namespace mmcpp {

std::vector<size_t> FindMatches(Span<const int64_t> prompt, Span<const int64_t> target,
                                size_t start) {
  std::vector<size_t> begins;
  if (target.empty()) return begins;
  prompt::SingleSearch search(target);
  for (size_t at = start; at < prompt.size();) {
    const size_t begin = search.First(prompt, at, prompt.size());
    if (begin < prompt.size()) begins.push_back(begin);
    at = begin < prompt.size() ? begin + target.size() : begin;
  }
  return begins;
}

Result<std::vector<Placement>> FindPlaceholders(Span<const int64_t> prompt,
                                                Span<const ModalityUpdates> updates) {
  return CatchOutOfMemory([&]() -> Result<std::vector<Placement>> {
    MMCPP_TRY(prompt::CheckContents(updates));
    return prompt::ContentScan(prompt, updates).Run();
  });
}

}  // namespace mmcpp
