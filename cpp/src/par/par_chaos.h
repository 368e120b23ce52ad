// The test executor's own door: which disorder it makes.
#pragma once

#include <cstdint>

namespace mmcpp::par {

/// Seed 0 keeps ranges in order, on the caller; any other seed shuffles uneven ranges over real
/// threads.
void SetChaosSeed(uint64_t seed) noexcept;

}  // namespace mmcpp::par
