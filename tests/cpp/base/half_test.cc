// base/half.h against the definition of the formats: every half, and the ties between neighbours.
#include "base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace mmcpp {
namespace {

// The value of half bits, straight from IEEE 754's definition of binary16.
float FromF16(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const float mantissa = static_cast<float>(bits & 0x3ff);
  const float magnitude = exponent == 31  ? (mantissa == 0 ? INFINITY : NAN)
                          : exponent == 0 ? std::ldexp(mantissa, -24)
                                          : std::ldexp(mantissa + 1024.0f, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

float FromBf16(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

TEST(Half, EveryF16RoundTrips) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float value = FromF16(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    EXPECT_EQ(ToF16(value), bits);
  }
}

TEST(Half, F16RoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = FromF16(static_cast<uint16_t>(bits));
    const float high = FromF16(static_cast<uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;  // exact: floats have 13 more bits
    const uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    EXPECT_EQ(ToF16(middle), even);
    EXPECT_EQ(ToF16(std::nextafter(middle, low)), bits);
    EXPECT_EQ(ToF16(std::nextafter(middle, high)), bits + 1);
  }
}

TEST(Half, F16Extremes) {
  EXPECT_EQ(ToF16(65519.99f), 0x7bff);
  EXPECT_EQ(ToF16(65520.0f), 0x7c00);
  EXPECT_EQ(ToF16(std::numeric_limits<float>::infinity()), 0x7c00);
  EXPECT_EQ(ToF16(-std::numeric_limits<float>::max()), 0xfc00);
  EXPECT_EQ(ToF16(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(ToF16(NAN) & 0x7c00, 0x7c00);
  EXPECT_NE(ToF16(NAN) & 0x3ff, 0);
}

TEST(Half, ElementBitsAreOfTheElement) {
  EXPECT_EQ(ElementBits(1.0f, DType::kF32), 0x3f800000u);
  EXPECT_EQ(ElementBits(1.0f, DType::kBf16), 0x3f80u);
  EXPECT_EQ(ElementBits(1.0f, DType::kF16), 0x3c00u);
}

TEST(Half, EveryBf16RoundTripsAndTiesGoToEven) {
  for (uint32_t bits = 0; bits < 0x7f7f; ++bits) {
    const float low = FromBf16(static_cast<uint16_t>(bits));
    const float high = FromBf16(static_cast<uint16_t>(bits + 1));
    EXPECT_EQ(ToBf16(low), bits);
    uint32_t middle_bits = (bits << 16) | 0x8000;
    float middle;
    std::memcpy(&middle, &middle_bits, sizeof middle);
    EXPECT_EQ(ToBf16(middle), bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(ToBf16(std::nextafter(middle, low)), bits);
    EXPECT_EQ(ToBf16(std::nextafter(middle, high)), bits + 1);
  }
  EXPECT_EQ(ToBf16(NAN), 0x7fc0);
  EXPECT_EQ(ToBf16(-INFINITY), 0xff80);
}

}  // namespace
}  // namespace mmcpp
