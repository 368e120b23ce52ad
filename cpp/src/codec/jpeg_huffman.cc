// Huffman tables of baseline JPEGs (ITU-T T.81, annex C and F.2.2).
#include "codec/jpeg_huffman.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace mmcpp::codec {
namespace {

/// Calls assign(code, bits, symbol) for every code, ascending; false as BuildDcTable says.
template <class Assign>
bool Codes(const JpegHuffmanSpec& spec, simd::JpegCodes* codes, const Assign& assign) {
  uint32_t code = 0, next = 0;
  codes->limit[0] = 0;
  codes->offset[0] = 0;
  std::memset(codes->symbols, 0, sizeof codes->symbols);
  for (uint32_t bits = 1; bits <= 16; ++bits, code <<= 1) {
    codes->offset[bits] = static_cast<int32_t>(next) - static_cast<int32_t>(code);
    for (uint32_t i = 0; i < spec.counts[bits - 1]; ++i, ++code, ++next) {
      if (code >= 1U << bits) return false;
      codes->symbols[next] = spec.symbols[next];
      if (!assign(code, bits, spec.symbols[next])) return false;
    }
    // libjpeg leaves the code of all ones free at the length that is the last.
    if (spec.counts[bits - 1] > 0 && code >= 1U << bits) return false;
    codes->limit[bits] = code << (16 - bits);
  }
  return true;
}

int Extend(uint32_t raw, uint32_t bits) {
  return static_cast<int>(raw) - (bits > 0 && raw >> (bits - 1) == 0 ? (1 << bits) - 1 : 0);
}

/// The entry of one symbol, as JpegAcTable says.
uint64_t Entry(uint32_t step, uint32_t bits, int value) {
  const uint64_t twice = uint64_t{static_cast<uint16_t>(value)} * 0x0001'0001;
  return bits | step << 8 | step << 16 | uint64_t{bits} << 24 | twice << 32;
}
uint64_t EntryWithoutValue(uint32_t step, uint32_t bits, uint32_t size) {
  return step << 16 | uint64_t{bits} << 24 | uint64_t{size} << 32;
}

/// The entry of a symbol and the one behind it, if both are whole and leave room for each other.
uint64_t Joined(uint64_t entry, uint64_t next, uint32_t bits) {
  constexpr uint64_t kFirst = 0x0000'ffff'ffff'0000, kLastValue = 0xffff'0000'0000'0000;
  const uint64_t both = (entry & kFirst) | (next & kLastValue) |
                        ((entry & 0xffff) + (next & 0xffff));  // steps and bits: neither carries
  const bool join = (entry & 255) != 0 && (next & 255) != 0 &&
                    (entry & 255) + (next & 255) <= bits &&
                    (entry >> 8 & 255) < simd::kJpegEndOfBlock;
  return join ? both : entry;
}

}  // namespace

bool BuildDcTable(const JpegHuffmanSpec& spec, simd::JpegDcTable* table) {
  std::memset(table->entries, 0, sizeof table->entries);
  return Codes(spec, &table->codes, [&](uint32_t code, uint32_t bits, uint8_t symbol) {
    if (symbol > 11) return false;
    if (bits > simd::kJpegDcBits) return true;
    const uint32_t free = simd::kJpegDcBits - bits;
    std::fill_n(table->entries + (code << free), size_t{1} << free,
                static_cast<uint16_t>((bits + symbol) | symbol << 8));
    return true;
  });
}

bool BuildAcTable(const JpegHuffmanSpec& spec, int max_quantiser, uint32_t table_bits,
                  simd::JpegAcTable* table) {
  const uint32_t entries = 1U << table_bits;
  const int max_value = simd::kJpegMaxCoefficient / std::max(max_quantiser, 1);
  uint64_t first[simd::kJpegAcEntries];
  std::fill_n(first, entries, 0);
  const bool good = Codes(spec, &table->codes, [&](uint32_t code, uint32_t bits, uint8_t symbol) {
    const uint32_t size = symbol & 15, run = symbol >> 4;
    if (size > 10 || (size == 0 && run != 0 && run != 15)) return false;
    if (bits > table_bits) return true;
    const uint32_t step = symbol == 0 ? uint32_t{simd::kJpegEndOfBlock} : run + 1;
    const uint32_t free = table_bits - bits;
    std::fill_n(first + (code << free), size_t{1} << free,
                EntryWithoutValue(step, bits + size, size));
    if (size > free) return true;
    for (uint32_t raw = 0; raw < 1U << size; ++raw) {
      const int value = Extend(raw, size);
      if (std::abs(value) > max_value) continue;
      std::fill_n(first + (code << free) + (raw << (free - size)), size_t{1} << (free - size),
                  Entry(step, bits + size, value));
    }
    return true;
  });
  if (!good) return false;
  table->bits = table_bits;
  for (uint32_t i = 0; i < entries; ++i) {
    const uint64_t next = first[(i << (first[i] & 255)) & (entries - 1)];
    table->entries[i] = Joined(first[i], next, table_bits);
  }
  return true;
}

}  // namespace mmcpp::codec
