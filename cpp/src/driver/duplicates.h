// Equal items of one request: found before any is decoded, processed once, and copied.
#pragma once

#include <cstddef>
#include <vector>

#include "driver/item.h"
#include "mmcpp/driver.h"

namespace mmcpp::driver {

/// first[i] is the lowest index whose source equals source i, byte for byte: i itself when none
/// does. The sources have passed CheckSources; hashes[i] is HashSource(media[i]).
std::vector<size_t> FindDuplicates(Span<const MediaSource> media, Span<const SourceHash> hashes);

/// A copy with its own tensors and no times. kOutOfMemory.
Result<OutputItem> CopyItem(const OutputItem& item);

}  // namespace mmcpp::driver
