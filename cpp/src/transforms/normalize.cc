// Construction of normalisation tables. Every step is one IEEE operation in the precision that the
// named reference uses, so that the entries are its bits.
#include "transforms/normalize.h"

#include <cstring>

#include "base/half.h"

namespace mmcpp::transforms {

namespace {

float Scaled(NormRule rule, size_t byte) {
  if (rule == NormRule::kFused) return static_cast<float>(byte);
  if (rule == NormRule::kReciprocal) {
    return static_cast<float>(byte) * static_cast<float>(1.0 / 255.0);
  }
  return static_cast<float>(static_cast<double>(byte) * (1.0 / 255.0));
}

float RoundToBf16(float value) {
  const uint32_t bits = uint32_t{ToBf16(value)} << 16;
  float rounded;
  std::memcpy(&rounded, &bits, sizeof rounded);
  return rounded;
}

}  // namespace

NormTable MakeNormTable(NormRule rule, const std::array<float, 3>& mean,
                        const std::array<float, 3>& std) {
  NormTable table;
  for (size_t channel = 0; channel < 3; ++channel) {
    const float m = rule == NormRule::kFused ? mean[channel] * 255.0f : mean[channel];
    const float s = rule == NormRule::kFused ? std[channel] * 255.0f : std[channel];
    for (size_t byte = 0; byte < 256; ++byte) {
      if (rule == NormRule::kBf16) {
        const float scaled = RoundToBf16(Scaled(NormRule::kReciprocal, byte));
        const float centered = RoundToBf16(scaled - RoundToBf16(m));
        table.value[channel][byte] = RoundToBf16(centered / RoundToBf16(s));
        continue;
      }
      table.value[channel][byte] = (Scaled(rule, byte) - m) / s;
    }
  }
  return table;
}

NormTable MakeDoubleNormTable(const std::array<double, 3>& mean, const std::array<double, 3>& std) {
  NormTable table;
  for (size_t channel = 0; channel < 3; ++channel) {
    const double inverse = 1.0 / std[channel];
    for (size_t byte = 0; byte < 256; ++byte) {
      const auto scaled = static_cast<float>(static_cast<double>(byte) / 255.0);
      const auto centred = static_cast<float>(static_cast<double>(scaled) - mean[channel]);
      table.value[channel][byte] = static_cast<float>(static_cast<double>(centred) * inverse);
    }
  }
  return table;
}

}  // namespace mmcpp::transforms
