// Builds small PNGs, sound and not, without a library: the pixels are stored, not compressed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "mmcpp/span.h"

namespace mmcpp::test {

using ByteVector = std::vector<uint8_t>;

inline void Append(ByteVector* out, const ByteVector& bytes) {
  out->insert(out->end(), bytes.begin(), bytes.end());
}

inline ByteVector BigEndian(uint32_t value, int size = 4) {
  ByteVector bytes;
  for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<uint8_t>(value >> shift));
  }
  return bytes;
}

inline ByteVector Text(const std::string& text) { return {text.begin(), text.end()}; }

inline ByteVector Joined(std::initializer_list<ByteVector> parts) {
  ByteVector all;
  for (const ByteVector& part : parts) Append(&all, part);
  return all;
}

/// A zlib stream that stores `bytes`, fewer than 65,536.
inline ByteVector Stored(const ByteVector& bytes) {
  const auto size = static_cast<uint16_t>(bytes.size());
  const auto low = [](int v) { return static_cast<uint8_t>(v); };
  ByteVector out = {0x78, 0x01, 0x01, low(size), low(size >> 8), low(~size), low(~size >> 8)};
  Append(&out, bytes);
  uint32_t a = 1, b = 0;
  for (uint8_t byte : bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  Append(&out, BigEndian(b << 16 | a));
  return out;
}

/// A chunk, its checksum changed by `crc_change`.
inline ByteVector Chunk(const std::string& name, const ByteVector& data, uint32_t crc_change = 0) {
  const ByteVector named = Joined({Text(name), data});
  uint32_t crc = 0xffffffff;
  for (uint8_t byte : named) {
    crc ^= byte;
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc % 2 != 0 ? 0xedb88320 : 0);
  }
  return Joined(
      {BigEndian(static_cast<uint32_t>(data.size())), named, BigEndian(~crc ^ crc_change)});
}

inline ByteVector PngSignature() { return {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}; }

/// Colour type 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGBA.
inline ByteVector PngHeaderChunk(int height, int width, uint8_t depth, uint8_t color,
                                 bool interlaced = false) {
  return Chunk("IHDR", Joined({BigEndian(static_cast<uint32_t>(width)),
                               BigEndian(static_cast<uint32_t>(height)),
                               {depth, color, 0, 0, static_cast<uint8_t>(interlaced)}}));
}

/// A whole file: the header, `chunks`, the rows (each with its filter byte) and the end.
inline ByteVector PngFile(const ByteVector& header, std::initializer_list<ByteVector> chunks,
                          const ByteVector& rows) {
  return Joined(
      {PngSignature(), header, Joined(chunks), Chunk("IDAT", Stored(rows)), Chunk("IEND", {})});
}

}  // namespace mmcpp::test
