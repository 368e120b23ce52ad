// The search for items' contents in item order, shared by finding (which stops at an item that is
// nowhere) and detecting (which goes on with the next).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "mmcpp/prompt_update.h"
#include "mmcpp/span.h"
#include "prompt/single_search.h"

namespace mmcpp::prompt {

class ContentScan {
 public:
  /// Tells whether an item cannot stand at `from` or later, so that its modality goes on to the
  /// next item.
  using Absent = std::function<bool(size_t modality, size_t item, size_t from)>;

  ContentScan(Span<const int64_t> prompt, Span<const ModalityUpdates> updates,
              Absent absent = nullptr);

  /// The placements, by modality, then item.
  std::vector<Placement> Run();

 private:
  struct Search {
    size_t alternative = 0;
    SingleSearch text;
  };
  struct Lane {  // of a modality
    size_t item = 0;
    std::vector<Search> searches;  // of the item's alternatives
  };

  void Open(size_t modality);
  bool Leftmost(size_t* modality, size_t* search) const;

  Span<const int64_t> prompt_;
  Span<const ModalityUpdates> updates_;
  Absent absent_;
  size_t at_ = 0;
  std::vector<Lane> lanes_;
};

}  // namespace mmcpp::prompt
