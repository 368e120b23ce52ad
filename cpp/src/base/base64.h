// Base64 to bytes, twice: as clients send it, and as the reference crate takes it.
#pragma once

#include <cstddef>
#include <string_view>

#include "mmcpp/status.h"
#include "mmcpp/tensor.h"

namespace mmcpp {

struct Base64Options {
  size_t max_bytes = size_t{64} << 20;
  bool url_safe = false;         ///< '-' and '_' are symbols too
  bool percent_escapes = false;  ///< "%2B" stands for '+', as in a URL
};

/// Skips ASCII whitespace, does not need padding, refuses everything else that is no symbol.
Result<Buffer> DecodeBase64Lenient(std::string_view text, const Base64Options& options);

/// The grammar and the error texts of the Rust crate base64 0.22.1, engine STANDARD.
Result<Buffer> DecodeBase64Exact(std::string_view text, size_t max_bytes);

}  // namespace mmcpp
