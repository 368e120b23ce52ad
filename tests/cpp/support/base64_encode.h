// The writer of base64 (RFC 4648, padded) that tests of its readers need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mmcpp::test {

inline std::string EncodeBase64(std::string_view bytes) {
  static const char kSymbols[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += i + k > bytes.size() ? '=' : kSymbols[bits >> (18 - 6 * k) & 63];
    }
  }
  return text;
}

}  // namespace mmcpp::test
