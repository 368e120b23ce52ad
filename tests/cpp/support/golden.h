// Access to the vectors in tests/golden.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

// Instantiated in golden.cc alone: it is most of what a test file would cost to compile.
extern template class nlohmann::basic_json<>;

namespace mmcpp::test {

/// A file of tests/golden.
nlohmann::json GoldenFile(const std::string& name);

/// tests/golden/reference_crate.json: what the reference crate gives.
const nlohmann::json& ReferenceCrate();

/// The vectors' picture, [height, width, 3]: noise from a formula that every language can write.
inline std::vector<uint8_t> GoldenPixels(int height, int width, uint64_t seed = 0) {
  std::vector<uint8_t> pixels(static_cast<size_t>(height) * static_cast<size_t>(width) * 3);
  for (size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<uint8_t>(static_cast<uint32_t>((i + seed) * 2654435761u) >> 16);
  }
  return pixels;
}

/// A hash as the vectors write it.
inline std::string Hex(uint64_t hash) {
  static const char digits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, hash >>= 4) text[static_cast<size_t>(i)] = digits[hash & 15];
  return text;
}

}  // namespace mmcpp::test
