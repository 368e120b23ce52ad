// Size arithmetic that reports overflow instead of wrapping.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mmcpp {

/// Sets *product to a * b and returns true, or returns false if it does not fit.
template <class T>
[[nodiscard]] bool CheckedMul(T a, T b, T* product) {
  return !__builtin_mul_overflow(a, b, product);
}

/// Sets *sum to a + b and returns true, or returns false if it does not fit.
template <class T>
[[nodiscard]] bool CheckedAdd(T a, T b, T* sum) {
  return !__builtin_add_overflow(a, b, sum);
}

}  // namespace mmcpp
