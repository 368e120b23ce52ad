// Content identity of pixels that a caller decoded.
#include "hash/blake3_hasher.h"
#include "mmcpp/hash.h"

namespace mmcpp {
namespace {

void StoreLittleEndian(uint32_t value, uint8_t* bytes) {
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * i));
}

}  // namespace

uint64_t PixelHash(const ImageView& image) noexcept {
  uint8_t header[12] = {'r', 'g', 'b', '8'};
  if (image.channels == 4) header[3] = 'a';
  StoreLittleEndian(static_cast<uint32_t>(image.height), header + 4);
  StoreLittleEndian(static_cast<uint32_t>(image.width), header + 8);
  const size_t row = static_cast<size_t>(image.width) * static_cast<size_t>(image.channels);
  blake3_hasher hasher;
  StartHash(&hasher);
  blake3_hasher_update(&hasher, header, sizeof header);
  if (image.row_bytes == row) {
    // One call over everything lets BLAKE3 use its widest kernel.
    blake3_hasher_update(&hasher, image.data, row * static_cast<size_t>(image.height));
  } else {
    for (int y = 0; y < image.height; ++y) blake3_hasher_update(&hasher, image.row(y), row);
  }
  uint8_t head[8];
  blake3_hasher_finalize(&hasher, head, sizeof head);
  uint64_t hash = 0;
  for (uint8_t byte : head) hash = hash << 8 | byte;
  return hash;
}

}  // namespace mmcpp
