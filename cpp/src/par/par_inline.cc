// The executor of native servers: everything on the caller's stack, no thread is ever started.
#include "par/par.h"

namespace mmcpp::par {

void ForRange(size_t n, size_t /*grain*/, RangeFn body) {
  if (n > 0) body(0, n);
}

size_t Concurrency() noexcept { return 1; }

Call::Call() noexcept = default;
Call::~Call() {}  // NOLINT(performance-trivially-destructible): not under every executor

const char* ExecutorName() noexcept { return "inline"; }

}  // namespace mmcpp::par
