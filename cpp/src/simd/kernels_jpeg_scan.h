// Entropy decoding of a baseline JPEG's blocks, to be compiled for several instruction sets: each
// file that includes this gets functions of its own.
//
// Coefficients come from look-ups by the next bits, one after another: the next look-up needs only
// the length of the last, which is an entry's lowest byte, so that the chain of dependent steps is
// a load and a shift.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/kernels_jpeg.h"

namespace mmcpp::simd {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own

#define MMCPP_JPEG_INLINE static inline __attribute__((always_inline))

// NOLINTBEGIN(misc-definitions-in-headers): of that namespace.

/// Zigzag position to natural order. What lies beyond the block goes to its last position, where an
/// end of block writes a zero over the zero that is there.
const uint8_t kJpegNatural[64 + kJpegEndOfBlock + 64] = {
    0,
    1,
    8,
    16,
    9,
    2,
    3,
    10,
    17,
    24,
    32,
    25,
    18,
    11,
    4,
    5,
    12,
    19,
    26,
    33,
    40,
    48,
    41,
    34,
    27,
    20,
    13,
    6,
    7,
    14,
    21,
    28,
    35,
    42,
    49,
    56,
    57,
    50,
    43,
    36,
    29,
    22,
    15,
    23,
    30,
    37,
    44,
    51,
    58,
    59,
    52,
    45,
    38,
    31,
    39,
    46,
    53,
    60,
    61,
    54,
    47,
    55,
    62,
    63,
#define MMCPP_JPEG_16 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63
    MMCPP_JPEG_16,
    MMCPP_JPEG_16,
    MMCPP_JPEG_16,
    MMCPP_JPEG_16,
    MMCPP_JPEG_16,
    MMCPP_JPEG_16,
    MMCPP_JPEG_16,
    MMCPP_JPEG_16,
    MMCPP_JPEG_16,
    MMCPP_JPEG_16,
    MMCPP_JPEG_16,
    MMCPP_JPEG_16,
#undef MMCPP_JPEG_16
};

struct JpegBitReader {
  uint64_t buffer;
  uint32_t bits;
  const uint8_t* next;
};

/// To at least 56 bits. Bits that are there already are read again, and are the same.
MMCPP_JPEG_INLINE void JpegRefill(JpegBitReader* in) {
  uint64_t word;
  memcpy(&word, in->next, 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  in->buffer |= word >> in->bits;
  in->next += (63 - in->bits) >> 3;
  in->bits |= 56;
}

MMCPP_JPEG_INLINE void JpegSkip(JpegBitReader* in, uint32_t count) {
  in->buffer <<= count & 63;
  in->bits -= count;
}

/// The number that the lowest `size` bits of `raw` stand for (ITU-T T.81, F.2.2.1, EXTEND).
MMCPP_JPEG_INLINE int32_t JpegExtend(uint32_t raw, uint32_t size) {
  const int32_t mask = static_cast<int32_t>((1u << size) - 1);
  const int32_t value = static_cast<int32_t>(raw) & mask;
  return value - (value <= mask >> 1 ? mask : 0);
}

/// Takes a code that its look-up table has not; its symbol, or -1 if there is no such code.
MMCPP_JPEG_INLINE int32_t JpegLongCode(JpegBitReader* in, const JpegCodes* codes, uint32_t bits) {
  const uint32_t code = static_cast<uint32_t>(in->buffer >> 48);
  for (++bits; bits <= 16; ++bits) {
    if (code >= codes->limit[bits]) continue;
    JpegSkip(in, bits);
    return codes->symbols[(static_cast<int32_t>(code >> (16 - bits)) + codes->offset[bits]) & 255];
  }
  return -1;
}

/// The next `count` bits, at most 56; then refills. Whatever is looked up by them need not wait for
/// the refill, which is as long a chain as the look-up.
MMCPP_JPEG_INLINE uint64_t JpegPeekAndRefill(JpegBitReader* in, uint32_t count) {
  if (__builtin_expect(in->bits < count, 0)) JpegRefill(in);
  const uint64_t next = in->buffer >> (64 - count);
  JpegRefill(in);
  return next;
}

/// The difference of a DC coefficient; false if there is no such code.
MMCPP_JPEG_INLINE bool JpegDecodeDc(JpegBitReader* in, const JpegDcTable* table, int32_t* value) {
  const uint32_t entry = table->entries[JpegPeekAndRefill(in, kJpegDcBits)];
  uint32_t size = entry >> 8;
  uint32_t count = entry & 255;
  if (__builtin_expect(entry == 0, 0)) {
    const int32_t symbol = JpegLongCode(in, &table->codes, kJpegDcBits);
    if (symbol < 0 || symbol > 11) return false;
    size = count = static_cast<uint32_t>(symbol);
  }
  // Of an empty code no bit is looked at: the mask is empty.
  *value = JpegExtend(static_cast<uint32_t>(in->buffer >> ((64 - count) & 63)), size);
  JpegSkip(in, count);
  return true;
}

/// An AC coefficient whose value is not in its entry: moves on by so many positions, or 0 if there
/// is no such code or no picture has such a coefficient.
__attribute__((noinline)) uint32_t JpegDecodeLongAc(JpegBitReader* in, uint64_t entry,
                                                    const JpegScanComponent* component, uint32_t k,
                                                    int16_t* block) {
  uint32_t step = entry >> 16 & 255;
  uint32_t count = entry >> 24 & 255;
  uint32_t size = entry >> 32 & 255;
  if (count == 0) {
    const int32_t symbol = JpegLongCode(in, &component->ac->codes, component->ac->bits);
    if (symbol < 0) return 0;
    size = count = symbol & 15;
    step = (static_cast<uint32_t>(symbol) >> 4) + 1;
    if (size == 0 && symbol == 0) return kJpegEndOfBlock;
    if (size > 10 || (size == 0 && symbol != 0xf0)) return 0;
  }
  const int32_t value = JpegExtend(static_cast<uint32_t>(in->buffer >> ((64 - count) & 63)), size);
  JpegSkip(in, count);
  const uint32_t at = k + step - 1;
  if (at > 63 || (value < 0 ? -value : value) > component->limits[at]) return 0;
  block[kJpegNatural[at]] = static_cast<int16_t>(value);
  return step;
}

/// The AC coefficients of a block by tables of so many bits: the zigzag position of the last, or
/// -1.
template <uint32_t kBits>
MMCPP_JPEG_INLINE int32_t JpegDecodeAc(JpegBitReader* in, const JpegScanComponent* component,
                                       int16_t* block) {
  const uint64_t* const entries = component->ac->entries;
  uint32_t k = 1;
  // Up to here the first of two coefficients cannot fill the block, so the second is of the block.
  while (k < 48) {
    uint64_t entry = entries[JpegPeekAndRefill(in, kBits)];
    // Two look-ups at most, of up to 26 bits each.
    for (int i = 0;;) {
      if (__builtin_expect((entry & 255) == 0, 0)) {
        JpegBitReader copy = *in;
        const uint32_t step = JpegDecodeLongAc(&copy, entry, component, k, block);
        *in = copy;
        if (step == 0) return -1;
        k += step;
      } else {
        in->buffer <<= entry & 63;
        in->bits -= entry & 255;
        block[kJpegNatural[k + (entry >> 16 & 255) - 1]] = static_cast<int16_t>(entry >> 32);
        k += entry >> 8 & 255;
        block[kJpegNatural[k - 1]] = static_cast<int16_t>(entry >> 48);
      }
      if (k >= 48 || ++i == 2) break;
      entry = entries[in->buffer >> (64 - kBits)];
    }
  }
  while (k < 64) {
    const uint64_t entry = entries[JpegPeekAndRefill(in, kBits)];
    if (__builtin_expect((entry & 255) == 0, 0)) {
      JpegBitReader copy = *in;
      const uint32_t step = JpegDecodeLongAc(&copy, entry, component, k, block);
      *in = copy;
      if (step == 0) return -1;
      k += step;
    } else {
      JpegSkip(in, entry >> 24 & 255);
      k += entry >> 16 & 255;
      block[kJpegNatural[k - 1]] = static_cast<int16_t>(entry >> 32);
    }
  }
  if (k > kJpegEndOfBlock) return static_cast<int32_t>(k) - kJpegEndOfBlock - 1;
  return k == 64 ? 63 : -1;
}

template <uint32_t kAcBits>
MMCPP_JPEG_INLINE int32_t JpegDecodeMcusBy(JpegScan* scan, uint32_t first, uint32_t end) {
  JpegBitReader in = {scan->buffer, scan->bits, scan->next};
  uint32_t mcu = first;
  for (; mcu < end && in.next <= scan->safe_end; ++mcu) {
    for (uint32_t b = 0; b < scan->blocks; ++b) {
      const JpegBlock* const which = &scan->block[b];
      JpegScanComponent* const component = &scan->component[which->component];
      int16_t* const block = which->coefficients + size_t{mcu} * which->step * 64;
      int32_t difference;
      if (!JpegDecodeDc(&in, component->dc, &difference)) return -1;
      component->last_dc += difference;
      const int32_t dc = component->last_dc;
      if ((dc < 0 ? -dc : dc) > component->dc_limit) return -1;
      block[0] = static_cast<int16_t>(dc);
      const int32_t last = JpegDecodeAc<kAcBits>(&in, component, block);
      if (last < 0) return -1;
      which->last[size_t{mcu} * which->step] = static_cast<uint8_t>(last);
    }
  }
  scan->buffer = in.buffer;
  scan->bits = in.bits;
  scan->next = in.next;
  return static_cast<int32_t>(mcu - first);
}

/// As Kernels::jpeg_decode_mcus says.
MMCPP_JPEG_INLINE int32_t JpegDecodeMcus(JpegScan* scan, uint32_t first, uint32_t end) {
  return scan->ac_bits == kJpegMaxAcBits ? JpegDecodeMcusBy<kJpegMaxAcBits>(scan, first, end)
                                         : JpegDecodeMcusBy<kJpegMinAcBits>(scan, first, end);
}

// NOLINTEND(misc-definitions-in-headers)

}  // namespace
}  // namespace mmcpp::simd
