// Content identity of encoded bytes: BLAKE3, unkeyed.
#pragma once

#include <array>
#include <cstdint>

#include "mmcpp/export.h"
#include "mmcpp/span.h"

namespace mmcpp {

/// The 32-byte BLAKE3 digest of the bytes.
MMCPP_EXPORT std::array<uint8_t, 32> ContentDigest(Bytes bytes) noexcept;

/// The digest's first 8 bytes, read big-endian.
MMCPP_EXPORT uint64_t ContentHash(Bytes bytes) noexcept;

}  // namespace mmcpp
