// float to bfloat16 and IEEE half bits, rounding to nearest even as torch and numpy do. Scalar
// definition.
#pragma once

#include <cstdint>
#include <cstring>

#include "mmcpp/tensor.h"

namespace mmcpp {

inline uint32_t FloatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// bfloat16 bits; a NaN becomes 0x7fc0, as torch 2.13 gives on CPU.
inline uint16_t ToBf16(float value) {
  const uint32_t bits = FloatBits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// IEEE binary16 bits; overflow becomes infinity, a NaN keeps its sign and top mantissa bits.
inline uint16_t ToF16(float value) {
  const uint32_t bits = FloatBits(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x47800000u) return sign | 0x7c00u;  // 2^16 and above, infinity included
  if (magnitude < 0x33000000u) return sign;             // below half of the smallest subnormal
  // Bring the value to Q.13 of its target's last place, then round to nearest even.
  const int exponent = static_cast<int>(magnitude >> 23);
  uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const bool subnormal = exponent < 113;
  const int shift = subnormal ? 13 + (113 - exponent) : 13;
  const uint32_t half = 1u << (shift - 1);
  const uint32_t rest = mantissa & ((1u << shift) - 1);
  uint32_t result = mantissa >> shift;
  if (rest > half || (rest == half && (result & 1u))) ++result;
  // The implicit bit adds one to the exponent field; a carry out of the mantissa does the same.
  if (!subnormal) result += static_cast<uint32_t>(exponent - 113) << 10;
  return static_cast<uint16_t>(sign | result);
}

/// The bits of `value` as an element of f32, bf16 or f16; the lowest ones of the result.
inline uint32_t ElementBits(float value, DType dtype) {
  if (dtype == DType::kBf16) return ToBf16(value);
  if (dtype == DType::kF16) return ToF16(value);
  return FloatBits(value);
}

}  // namespace mmcpp
