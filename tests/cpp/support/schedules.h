// Runs a check under several schedules of the executor that the test program is linked with.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "par/par.h"
#include "par/par_chaos.h"

namespace mmcpp::par {
// Only the chaos build defines it.
__attribute__((weak)) void SetChaosSeed(uint64_t seed) noexcept;
}  // namespace mmcpp::par

namespace mmcpp::test {

/// check() once, or in the chaos build once for each seed in [0, seeds): 0 is in order, the others
/// shuffle over threads.
template <class Check>
void ForEachSchedule(uint64_t seeds, const Check& check) {
  if (par::SetChaosSeed == nullptr) return check();
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE("chaos seed " + std::to_string(seed));
    par::SetChaosSeed(seed);
    check();
  }
  par::SetChaosSeed(1);
}

}  // namespace mmcpp::test
