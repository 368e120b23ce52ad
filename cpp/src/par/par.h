// The threading seam: who runs a loop is decided by which par_*.cc is compiled. Results never
// depend on it: only order-preserving maps and disjoint writes, no reductions.
//
// A waiting thread may take another task of the same pool: hold no lock and keep no thread_local
// scratch across these calls. Bodies must not throw.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/out_of_memory.h"
#include "mmcpp/status.h"

namespace mmcpp::par {

/// A borrowed callable void(size_t begin, size_t end); two pointers, so no executor's type shows.
class RangeFn {
 public:
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, RangeFn>>>
  RangeFn(F&& body)  // NOLINT(google-explicit-constructor)
      : body_(const_cast<void*>(static_cast<const void*>(&body))),
        call_([](void* f, size_t begin, size_t end) {
          (*static_cast<std::remove_reference_t<F>*>(f))(begin, end);
        }) {}
  void operator()(size_t begin, size_t end) const { call_(body_, begin, end); }

 private:
  void* body_;
  void (*call_)(void*, size_t, size_t);
};

/// Calls body over disjoint ranges that together are [0, n), each of at least `grain` where
/// possible, and returns when all are done.
void ForRange(size_t n, size_t grain, RangeFn body);

/// How many threads a loop may run on now, the caller's among them.
size_t Concurrency() noexcept;

/// Stands on a thread's stack while it is in a call of the library. Threads that are in calls of
/// their own take their share of the processors, so loops are lent as many fewer: a loop that waits
/// for a helper which another call keeps from running costs more than it gains.
class Call {
 public:
  Call() noexcept;
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
};

/// "inline", "tbb" or "chaos".
const char* ExecutorName() noexcept;

/// fn(i) for every i in [0, n), results in order. With failures, the error of the lowest index,
/// whatever ran first. Every index runs even after one failed, so the outcome is the same under
/// each executor.
template <class T, class Fn>
Result<std::vector<T>> TryMap(size_t n, const Fn& fn) {
  std::vector<std::optional<Result<T>>> results(n);
  ForRange(n, 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) results[i].emplace(fn(i));
  });
  std::vector<T> values;
  values.reserve(n);
  for (auto& result : results) {
    if (!result->ok()) return std::move(*result).error();
    values.push_back(**std::move(result));
  }
  return values;
}

/// ForRange over a body Status(size_t begin, size_t end) that may fail or run out of memory. Of
/// several failures the one whose range begins lowest is returned, once every range has run.
template <class Fn>
Status TryRanges(size_t n, size_t grain, const Fn& fn) {
  std::mutex mutex;
  std::optional<Error> error;
  size_t error_begin = 0;
  ForRange(n, grain, [&](size_t begin, size_t end) {
    const Status status = CatchOutOfMemory([&]() -> Status { return fn(begin, end); });
    if (status.ok()) return;
    const std::lock_guard<std::mutex> lock(mutex);
    if (error && error_begin < begin) return;
    error = status.error();
    error_begin = begin;
  });
  if (error) return *std::move(error);
  return Ok{};
}

}  // namespace mmcpp::par
