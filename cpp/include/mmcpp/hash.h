// Content identity of encoded bytes and of pixels: BLAKE3, unkeyed.
#pragma once

#include <array>
#include <cstdint>

#include "mmcpp/export.h"
#include "mmcpp/image.h"
#include "mmcpp/span.h"

namespace mmcpp {

/// The 32-byte BLAKE3 digest of the bytes.
MMCPP_EXPORT std::array<uint8_t, 32> ContentDigest(Bytes bytes) noexcept;

/// The digest of the parts' bytes one after the other.
MMCPP_EXPORT std::array<uint8_t, 32> ContentDigest(Span<const Bytes> parts) noexcept;

/// The digest's first 8 bytes, read big-endian.
MMCPP_EXPORT uint64_t ContentHash(Bytes bytes) noexcept;

/// The identity of pixels that come without encoded bytes: as ContentHash of the four characters
/// "rgb8" ("rgba" of four channels), height and width as 32-bit little-endian numbers, and the rows
/// without padding.
MMCPP_EXPORT uint64_t PixelHash(const ImageView& image) noexcept;

}  // namespace mmcpp
