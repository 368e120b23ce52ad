// Content identity: BLAKE3 through the official C code.
#include "hash/blake3_hasher.h"
#include "mmcpp/hash.h"

namespace mmcpp {

std::array<uint8_t, 32> ContentDigest(Bytes bytes) noexcept {
  return ContentDigest(Span<const Bytes>(&bytes, 1));
}

std::array<uint8_t, 32> ContentDigest(Span<const Bytes> parts) noexcept {
  static_assert(BLAKE3_OUT_LEN == 32);
  blake3_hasher hasher;
  StartHash(&hasher);
  for (const Bytes& part : parts) blake3_hasher_update(&hasher, part.data(), part.size());
  std::array<uint8_t, 32> digest;
  blake3_hasher_finalize(&hasher, digest.data(), digest.size());
  return digest;
}

uint64_t ContentHash(Bytes bytes) noexcept {
  const std::array<uint8_t, 32> digest = ContentDigest(bytes);
  uint64_t hash = 0;
  for (size_t i = 0; i < 8; ++i) hash = hash << 8 | digest[i];
  return hash;
}

}  // namespace mmcpp
