// In-memory sources: takes a data: URL apart and hands its payload to the right decoder.
#include "mmcpp/source.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/base64.h"
#include "base/ensure.h"

namespace mmcpp {
namespace {

constexpr std::string_view kScheme = "data:";

// Whether the part between "data:" and the comma ends with ";base64"; blanks around the word are
// allowed.
bool SaysBase64(std::string_view meta) {
  const size_t semicolon = meta.rfind(';');
  return semicolon != std::string_view::npos &&
         EqualsIgnoringCase(TrimBlanks(meta.substr(semicolon + 1), " "), "base64");
}

// Bytes of a percent-encoded payload. `offset` is where it stands in the URL, for messages.
Result<Buffer> DecodePercent(std::string_view text, size_t offset, size_t max_bytes) {
  const size_t capacity = std::min(text.size(), max_bytes);
  MMCPP_ASSIGN(Buffer buffer, Buffer::Allocate(capacity));
  size_t written = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<uint8_t>(text[i]);
    if (c == '\t' || c == '\n' || c == '\r') continue;
    if (c < 0x20 || c == 0x7f || c == '#') {
      return BadSource("data url: byte " + std::to_string(c) + " at offset " +
                       std::to_string(offset + i) + " must be percent-encoded");
    }
    if (c == '%') {
      const int high = i + 1 < text.size() ? HexValue(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexValue(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return BadSource("data url: malformed escape at offset " + std::to_string(offset + i));
      }
      c = static_cast<uint8_t>(high * 16 + low);
      i += 2;
    }
    if (written == capacity) {
      return LimitExceeded("data url: decodes to more than " + std::to_string(max_bytes) +
                           " bytes");
    }
    buffer.data()[written++] = c;
  }
  buffer.Truncate(written);
  return buffer;
}

}  // namespace

Result<Buffer> DecodeBase64(std::string_view text, const SourceOptions& options) {
  return DecodeBase64Lenient(text, {options.max_bytes, options.url_safe, false});
}

Result<Buffer> DecodeBase64Strict(std::string_view text, size_t max_bytes) {
  return DecodeBase64Exact(text, max_bytes);
}

bool IsDataUrl(std::string_view text) noexcept {
  return EqualsIgnoringCase(text.substr(0, kScheme.size()), kScheme);
}

Result<Buffer> DecodeDataUrl(std::string_view url, const SourceOptions& options) {
  if (!IsDataUrl(url)) return BadSource("data url: does not begin with \"data:\"");
  const size_t comma = url.find(',');
  if (comma == std::string_view::npos) return BadSource("data url: no comma before the data");
  const std::string_view payload = url.substr(comma + 1);
  if (SaysBase64(url.substr(kScheme.size(), comma - kScheme.size()))) {
    auto decoded = DecodeBase64Lenient(payload, {options.max_bytes, options.url_safe, true});
    if (!decoded.ok()) return WithContext(std::move(decoded).error(), "data url");
    return decoded;
  }
  return DecodePercent(payload, comma + 1, options.max_bytes);
}

Result<Buffer> DecodeSource(std::string_view source, const SourceOptions& options) {
  return IsDataUrl(source) ? DecodeDataUrl(source, options) : DecodeBase64(source, options);
}

}  // namespace mmcpp
