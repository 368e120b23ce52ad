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

/// What the bits of an AC table's index begin with.
struct Symbol {
  uint8_t step;   // 0: a code that is longer or not there
  uint8_t bits;   // code and value
  uint8_t size;   // of the value
  bool complete;  // the value is in the index too
  int16_t value;
};

uint64_t Entry(const Symbol& symbol, const Symbol& next, bool both) {
  if (symbol.step == 0) return 0;
  uint64_t entry = uint64_t{symbol.step} << 16 | uint64_t{symbol.bits} << 24;
  if (!symbol.complete) return entry | uint64_t{symbol.size} << 32;
  const auto value = static_cast<uint16_t>(symbol.value);
  const auto last = static_cast<uint16_t>(both ? next.value : symbol.value);
  const uint32_t bits = symbol.bits + (both ? next.bits : 0U);
  const uint32_t step = symbol.step + (both ? next.step : 0U);
  return entry | bits | uint64_t{step} << 8 | uint64_t{value} << 32 | uint64_t{last} << 48;
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

bool BuildAcTable(const JpegHuffmanSpec& spec, int max_quantiser, simd::JpegAcTable* table) {
  constexpr uint32_t kBits = simd::kJpegAcBits;
  const int max_value = simd::kJpegMaxCoefficient / std::max(max_quantiser, 1);
  Symbol first[simd::kJpegAcEntries] = {};
  const bool good = Codes(spec, &table->codes, [&](uint32_t code, uint32_t bits, uint8_t symbol) {
    const uint8_t size = symbol & 15, run = symbol >> 4;
    if (size > 10 || (size == 0 && run != 0 && run != 15)) return false;
    if (bits > kBits) return true;
    const uint8_t step = symbol == 0 ? uint8_t{simd::kJpegEndOfBlock} : uint8_t(run + 1);
    for (uint32_t i = code << (kBits - bits); i < (code + 1) << (kBits - bits); ++i) {
      Symbol* to = &first[i];
      *to = {step, static_cast<uint8_t>(bits + size), size, bits + size <= kBits, 0};
      if (!to->complete) continue;
      const uint32_t raw = (i >> (kBits - bits - size)) & ((1U << size) - 1);
      to->value = static_cast<int16_t>(Extend(raw, size));
      to->complete = std::abs(to->value) <= max_value;
    }
    return true;
  });
  if (!good) return false;
  for (uint32_t i = 0; i < simd::kJpegAcEntries; ++i) {
    const Symbol& symbol = first[i];
    const Symbol& next = first[(i << symbol.bits) % simd::kJpegAcEntries];
    const bool both = symbol.complete && symbol.step < simd::kJpegEndOfBlock && next.complete &&
                      symbol.bits + next.bits <= kBits;
    table->entries[i] = Entry(symbol, next, both);
  }
  return true;
}

}  // namespace mmcpp::codec
