// Sources that carry their bytes with them: data: URLs and base64. Neither network nor files are
// touched here.
#pragma once

#include <cstddef>
#include <string_view>

#include "mmcpp/export.h"
#include "mmcpp/status.h"
#include "mmcpp/tensor.h"

namespace mmcpp {

struct SourceOptions {
  size_t max_bytes = size_t{64} << 20;  ///< of the decoded bytes; exactly as many are taken
  bool url_safe = false;                ///< '-' and '_' are taken beside '+' and '/'
};

/// Base64 as clients send it: the alphabet of RFC 4648, ASCII whitespace anywhere, padding that may
/// be missing. Any other character is refused, as are padding that is too long and a lone last
/// symbol; unused bits of the last symbol are ignored, as browsers do.
/// Errors: kBadSource, kLimitExceeded, kOutOfMemory.
MMCPP_EXPORT Result<Buffer> DecodeBase64(std::string_view text, const SourceOptions& options = {});

/// Base64 as the reference crate takes it (base64 0.22, its standard engine): no whitespace,
/// canonical padding, unused bits zero. The message of kBadSource is the crate's text, such as
/// "Invalid symbol 61, offset 7.".
/// Errors: kBadSource, kLimitExceeded, kOutOfMemory.
MMCPP_EXPORT Result<Buffer> DecodeBase64Strict(std::string_view text,
                                               size_t max_bytes = size_t{64} << 20);

/// True for text that begins with "data:" in any letter case.
MMCPP_EXPORT bool IsDataUrl(std::string_view text) noexcept;

/// The bytes of a data: URL, as RFC 2397 writes it and browsers read it: media type and parameters
/// are skipped, ";base64" in any letter case at their end means base64, else the payload is
/// percent-encoded; a base64 payload may be percent-encoded as well. Line breaks and tabs are
/// ignored as in every URL; a malformed escape, a control character or a bare '#' is refused.
/// Errors: kBadSource, kLimitExceeded, kOutOfMemory.
MMCPP_EXPORT Result<Buffer> DecodeDataUrl(std::string_view url, const SourceOptions& options = {});

/// A source in memory: DecodeDataUrl for a data: URL, DecodeBase64 for anything else.
MMCPP_EXPORT Result<Buffer> DecodeSource(std::string_view source,
                                         const SourceOptions& options = {});

}  // namespace mmcpp
