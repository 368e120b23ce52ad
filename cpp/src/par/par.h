// The threading seam: who runs a loop is decided by which par_*.cc is compiled. Results never
// depend on it: only order-preserving maps and disjoint writes, no reductions.
//
// A waiting thread may take another task of the same pool: hold no lock and keep no thread_local
// scratch across these calls. Bodies must not throw.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

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

}  // namespace mmcpp::par
