// Construction of normalisation tables. Every step is one IEEE operation in the precision that the
// named reference uses, so that the entries are its bits.
#include "transforms/normalize.h"

namespace mmcpp::transforms {

NormTable MakeNormTable(NormRule rule, const std::array<float, 3>& mean,
                        const std::array<float, 3>& std) {
  NormTable table;
  for (size_t channel = 0; channel < 3; ++channel) {
    const float m = rule == NormRule::kFused ? mean[channel] * 255.0f : mean[channel];
    const float s = rule == NormRule::kFused ? std[channel] * 255.0f : std[channel];
    for (size_t byte = 0; byte < 256; ++byte) {
      const float value = rule == NormRule::kFused
                              ? static_cast<float>(byte)
                              : static_cast<float>(static_cast<double>(byte) * (1.0 / 255.0));
      table.value[channel][byte] = (value - m) / s;
    }
  }
  return table;
}

}  // namespace mmcpp::transforms
