// The JPEG kernels of the tables, in files of their own: entropy decoding of baseline scans, the
// inverse DCT, and chroma upsampling with conversion to RGB.
//
// What they compute is what libjpeg-turbo 2.1 to 3.2 computes for sound data: jdhuff.c's codes,
// jidctint.c's accurate inverse DCT ("islow"), jdsample.c's fancy upsampling and jdcolor.c's
// tables. Where libjpeg-turbo's C code and its SIMD code part, on coefficients that no picture has,
// the kernels say so instead of giving samples.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "simd/kernels.h"

namespace mmcpp::simd {

enum {
  kJpegDcBits = 9,  // a DC table is looked up by so many bits
  // An AC table by so many or so many. More bits hold two coefficients in more of the entries, and
  // take longer to build; two tables of 12 bits are too much for a cache.
  kJpegMinAcBits = 10,
  kJpegMaxAcBits = 11,
  kJpegAcEntries = 1 << kJpegMaxAcBits,
  kJpegDcEntries = 1 << kJpegDcBits,
  kJpegMaxBlocks = 6,          // of an MCU
  kJpegMaxMcuBytes = 1280,     // above 6 blocks of a DC of 16 + 11 bits and 63 AC of 16 + 10
  kJpegMaxCoefficient = 4080,  // the largest |coefficient * quantiser| that kernels must take
  kJpegEndOfBlock = 128,       // more than any number of positions that a code moves on
};

/// A Huffman code beyond its look-up table: of the codes of n bits, left-aligned in 16, those below
/// `limit[n]` have their symbol at symbols[(code >> (16 - n)) + offset[n]]. limit ascends.
struct JpegCodes {
  uint32_t limit[17];
  int32_t offset[17];
  uint8_t symbols[256];
};

/// Entries of DC tables: bits of code and difference together; bits of the difference << 8. Zero
/// stands for codes longer than kJpegDcBits.
struct JpegDcTable {
  uint16_t entries[kJpegDcEntries];
  struct JpegCodes codes;
};

/// Entries of AC tables hold one coefficient or two, or one and the end of the block:
///   byte 0  bits of all of it; 0: there is no value in the entry
///   byte 1  positions that all of it moves on; kJpegEndOfBlock is added for an end
///   byte 2  positions that the first moves on, byte 3 its bits
///   bytes 4, 5 the first value, 6, 7 the last (the first again if it is the only one)
/// Without a value, byte 3 is 0 for codes longer than `bits` and byte 4 the bits of the value.
struct JpegAcTable {
  uint32_t bits;  // by which it is looked up
  uint64_t entries[kJpegAcEntries];
  struct JpegCodes codes;
};

/// One block of every MCU: of MCU i it is `coefficients` + i * step * 64.
struct JpegBlock {
  uint32_t component;
  uint32_t step;
  int16_t* coefficients;  // natural order; all zero before
  uint8_t* last;          // [i * step] becomes the zigzag position of the last coefficient
};

struct JpegScanComponent {
  const struct JpegDcTable* dc;
  const struct JpegAcTable* ac;
  int32_t last_dc;
  int32_t dc_limit;        // of |DC|
  const uint16_t* limits;  // of |coefficient|, by zigzag position
};

/// The state of a scan. `next` must have kJpegMaxMcuBytes + 16 readable bytes whenever it is not
/// above `safe_end`. Bits are the uppermost of `buffer`; those below `bits` are of no account.
struct JpegScan {
  uint64_t buffer;
  uint32_t bits;
  const uint8_t* next;
  const uint8_t* safe_end;
  uint32_t blocks;
  uint32_t ac_bits;  // of every AC table
  struct JpegBlock block[kJpegMaxBlocks];
  struct JpegScanComponent component[3];
};

/// Quantisers in natural order.
struct JpegQuantisers {
  uint16_t values[64];
};

// As Kernels says.
int32_t JpegDecodeMcusScalar(struct JpegScan* scan, uint32_t first, uint32_t end);
int JpegIdctScalar(int16_t* coefficients, const uint8_t* last,
                   const struct JpegQuantisers* quantisers, size_t blocks, uint8_t* dst,
                   size_t stride);
void JpegRgbScalar(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n, uint8_t* rgb);
void JpegRgbH2v1Scalar(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n,
                       uint8_t* rgb);
void JpegRgbH2v2Scalar(const uint8_t* y, const uint8_t* const* cb, const uint8_t* const* cr,
                       size_t n, uint8_t* rgb);
#if MMCPP_SIMD && defined(__x86_64__)
int32_t JpegDecodeMcusAvx2(struct JpegScan* scan, uint32_t first, uint32_t end);
int JpegIdctAvx2(int16_t* coefficients, const uint8_t* last,
                 const struct JpegQuantisers* quantisers, size_t blocks, uint8_t* dst,
                 size_t stride);
void JpegRgbAvx2(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n, uint8_t* rgb);
void JpegRgbH2v1Avx2(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n,
                     uint8_t* rgb);
void JpegRgbH2v2Avx2(const uint8_t* y, const uint8_t* const* cb, const uint8_t* const* cr, size_t n,
                     uint8_t* rgb);
int JpegIdctAvx512(int16_t* coefficients, const uint8_t* last,
                   const struct JpegQuantisers* quantisers, size_t blocks, uint8_t* dst,
                   size_t stride);
void JpegRgbAvx512(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n, uint8_t* rgb);
void JpegRgbH2v1Avx512(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n,
                       uint8_t* rgb);
void JpegRgbH2v2Avx512(const uint8_t* y, const uint8_t* const* cb, const uint8_t* const* cr,
                       size_t n, uint8_t* rgb);
#endif
#if MMCPP_SIMD && defined(__aarch64__)
int JpegIdctNeon(int16_t* coefficients, const uint8_t* last,
                 const struct JpegQuantisers* quantisers, size_t blocks, uint8_t* dst,
                 size_t stride);
void JpegRgbNeon(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n, uint8_t* rgb);
void JpegRgbH2v1Neon(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n,
                     uint8_t* rgb);
void JpegRgbH2v2Neon(const uint8_t* y, const uint8_t* const* cb, const uint8_t* const* cr, size_t n,
                     uint8_t* rgb);
#endif

}  // namespace mmcpp::simd
