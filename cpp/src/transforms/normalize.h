// Normalisation of 8-bit pixels as one 256-entry table per channel; only its construction differs
// between references.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mmcpp::transforms {

/// How a table's entries are computed from the byte, the mean and the standard deviation.
enum class NormRule : uint8_t {
  kPil,    ///< transformers 5.24 PIL backend: (f32(f64(v) * (1/255)) - mean) / std; equals (v/255 -
           ///< mean)/std in f32
  kFused,  ///< transformers 5.24 torchvision backend: (v - mean*255) / (std*255), each step rounded
           ///< to f32
  kReciprocal,  ///< the crate sglang-mm 0.5.23, Inkling: (v * f32(1/255) - mean) / std in f32; with
                ///< mean 0 and std 1 the torchvision backend without normalisation
  kBf16,  ///< transformers 5.24, Llama 4: (v * f32(1/255) - mean) / std, every value and result
          ///< rounded to bfloat16
};

struct NormTable {
  std::array<std::array<float, 256>, 3> value;  ///< [channel][byte]
};

NormTable MakeNormTable(NormRule rule, const std::array<float, 3>& mean,
                        const std::array<float, 3>& std);

/// Kimi K3's: f32(f64(f32(f64(f32(v / 255)) - mean)) * (1 / std)), divisions in double. Equals the
/// checkpoint's own image processor and the crate sglang-mm's branch for it.
NormTable MakeDoubleNormTable(const std::array<double, 3>& mean, const std::array<double, 3>& std);

}  // namespace mmcpp::transforms
