// Colour tables, and samples of less than a byte.
#include "codec/palette.h"

#include <cstring>

#include "base/endian.h"
#include "codec/color.h"

namespace mmcpp::codec {

void Palette::Set(size_t index, const uint8_t rgba[4], const DecodeOptions& options) {
  RgbaToRgb(rgba, options, colors_[index].data());
}

void Palette::ToRgb(const uint8_t* indices, size_t count, uint8_t* rgb) const {
  size_t i = 0;
  // Four pixels are 12 bytes; the fourth byte of a colour is 0.
  for (; kLittleEndian && i + 4 <= count; i += 4, rgb += 12) {
    const auto color = [&](size_t j) {
      uint32_t value;
      std::memcpy(&value, colors_[indices[i + j]].data(), 4);
      return value;
    };
    const uint64_t a = color(0), b = color(1), c = color(2), d = color(3);
    const uint64_t first = a | b << 24 | c << 48;
    const auto last = static_cast<uint32_t>(c >> 16 | d << 8);
    std::memcpy(rgb, &first, 8);
    std::memcpy(rgb + 8, &last, 4);
  }
  for (; i < count; ++i, rgb += 3) std::memcpy(rgb, colors_[indices[i]].data(), 3);
}

void Palette::ToRgba(const uint8_t* indices, size_t count, uint8_t* rgba) const {
  for (size_t i = 0; i < count; ++i, rgba += 4) std::memcpy(rgba, colors_[indices[i]].data(), 4);
}

namespace {

/// The depth is known to the compiler, so that a byte's samples are taken out at once.
template <int kDepth>
void Unpack(const uint8_t* packed, size_t count, uint8_t* samples) {
  constexpr size_t kPerByte = 8 / kDepth;
  const auto sample = [](uint8_t byte, size_t j) {
    return static_cast<uint8_t>((byte >> (8 - kDepth * (j + 1))) & ((1u << kDepth) - 1));
  };
  const size_t whole = count / kPerByte;
  for (size_t i = 0; i < whole; ++i) {
    for (size_t j = 0; j < kPerByte; ++j) samples[i * kPerByte + j] = sample(packed[i], j);
  }
  for (size_t i = whole * kPerByte; i < count; ++i)
    samples[i] = sample(packed[whole], i % kPerByte);
}

}  // namespace

void UnpackBits(const uint8_t* packed, int depth, size_t count, uint8_t* samples) {
  if (depth == 1) return Unpack<1>(packed, count, samples);
  if (depth == 2) return Unpack<2>(packed, count, samples);
  return Unpack<4>(packed, count, samples);
}

}  // namespace mmcpp::codec
