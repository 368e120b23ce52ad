// The table of pixel kernels that an instruction set provides. C types only: kernel files are
// compiled in part for instructions that the machine may not have, so nothing here may emit code.
//
// kernels_scalar.cc defines what each kernel computes; every other table equals it bit for bit.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// What stands between these two is compiled for the given instructions:
/// MMCPP_TARGET_BEGIN("avx2"). Regions, not file-wide flags: with a flag, inline functions of
/// headers are compiled for the instructions too, and the linker may choose those for everybody.
#if defined(__clang__)
#define MMCPP_TARGET_BEGIN(features) \
  MMCPP_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define MMCPP_TARGET_END _Pragma("clang attribute pop")
#else
#define MMCPP_TARGET_BEGIN(features) _Pragma("GCC push_options") MMCPP_PRAGMA(GCC target(features))
#define MMCPP_TARGET_END _Pragma("GCC pop_options")
#endif
#define MMCPP_PRAGMA(text) _Pragma(#text)

namespace mmcpp::simd {

/// The largest |weight|: three signed bytes hold it with every digit inside -128..127.
enum { kMaxWeight = 127 << 16 };

/// The weights of one axis of a resampling, in fixed point. Output i is
///   clamp((2^(precision-1) + sum over k < count[i] of input[first[i] + k] * weight) >> precision)
/// with weight = weights[i * stride + k] and clamp to 0..255. The sum is taken modulo 2^32, so its
/// order does not matter and it may be split; it is exact, since sum |weight| < 2^31 / 255.
struct ResampleAxis {
  int32_t in_size;
  int32_t out_size;
  int32_t precision;  // 1..22
  int32_t max_count;
  const int32_t* first;    // [out_size], ascending
  const int32_t* count;    // [out_size], at least 1; first + count <= in_size
  const int32_t* weights;  // [out_size][stride], |weight| <= kMaxWeight
  size_t stride;
  const void* packed;  // what the table's own pack function wrote; unused if it has none
};

/// Which part of a row the horizontal kernel reads and writes.
struct RowSpan {
  int32_t out_begin, out_end;  // pixels of the output; dst rows start at out_begin
  int32_t in_begin, in_end;    // pixels that the src rows hold; src rows start at in_begin, and
                               // nothing outside is read
};

/// What a byte becomes: the bits of an element of 4 bytes, or of 2 with the upper half zero.
struct ByteTable {
  uint32_t value[256];
  uint8_t plane[4][256];  // plane[k][b] is byte k of value[b], for look-up by permutation
};

// kernels_jpeg.h has these.
struct JpegQuantisers;
struct JpegScan;

struct Kernels {
  const char* name;

  /// Bytes that pack_horizontal / pack_vertical write, into 64-byte aligned memory. They bring
  /// weights into the form that the kernels of the same direction read; null if there is none.
  size_t (*packed_horizontal_bytes)(const struct ResampleAxis* axis);
  void (*pack_horizontal)(const struct ResampleAxis* axis, void* packed);
  size_t (*packed_vertical_bytes)(const struct ResampleAxis* axis);
  void (*pack_vertical)(const struct ResampleAxis* axis, void* packed);

  /// Resamples `rows` RGB8 rows along x. Any number of rows; kResampleRows at once cost least.
  void (*resample_horizontal_rgb8)(const struct ResampleAxis* axis, const struct RowSpan* span,
                                   size_t rows, const uint8_t* const* src, uint8_t* const* dst);

  /// Output row y from the count[y] rows of its window, src[0] being row first[y]. Bytes are
  /// independent, whatever the channels.
  void (*resample_vertical_u8)(const struct ResampleAxis* axis, int32_t y, size_t bytes,
                               const uint8_t* const* src, uint8_t* dst);

  /// A tile of RGB8 rows to three planes: dst[(c * rows + y) * columns + x].
  void (*split_rgb8)(const uint8_t* src, size_t src_row_bytes, size_t rows, size_t columns,
                     uint8_t* dst);

  /// dst[copy * n + i] = table[src[i]] for every copy < copies, in elements of 4 and 2 bytes; dst
  /// is aligned to its element.
  void (*map_to_32)(const struct ByteTable* table, const uint8_t* src, size_t n, size_t copies,
                    void* dst);
  void (*map_to_16)(const struct ByteTable* table, const uint8_t* src, size_t n, size_t copies,
                    void* dst);

  /// Undoes PNG's row filters on `rows` rows of `bytes` bytes, the pixels of pixel_bytes (1, 2, 3,
  /// 4, 6 or 8) each. src[y] is a filter byte, 0 to 4, and the filtered row; above is the finished
  /// row before the first. kPngRows rows at once cost least. dst overlaps neither src nor above.
  void (*png_unfilter)(size_t rows, size_t bytes, size_t pixel_bytes, const uint8_t* const* src,
                       const uint8_t* above, uint8_t* const* dst);

  /// n RGBA8 pixels to RGB8: laid over `background` (three bytes), or without their alpha. Each
  /// byte is (color * alpha + background * (255 - alpha)) / 255, rounded. rgb may be rgba.
  void (*blend_rgba8)(const uint8_t* rgba, size_t n, const uint8_t* background, uint8_t* rgb);
  void (*drop_rgba8)(const uint8_t* rgba, size_t n, uint8_t* rgb);

  /// Decodes the coefficients of the MCUs [first, end) of those that the scan has room for; how
  /// many before `next` went above `safe_end`, or -1: the data are damaged or no picture's.
  int32_t (*jpeg_decode_mcus)(struct JpegScan* scan, uint32_t first, uint32_t end);

  /// Samples of `blocks` blocks that lie side by side, and their coefficients zeroed. last[i] is
  /// the zigzag position of the last coefficient of block i. Rows get blocks * 8 samples and up to
  /// 8 more; coefficients of as many blocks must be there. Not 0: a value is so large that
  /// implementations part, and the samples are of no account. The scan limits
  /// |coefficient * quantiser| to kJpegMaxCoefficient.
  int (*jpeg_idct)(int16_t* coefficients, const uint8_t* last,
                   const struct JpegQuantisers* quantisers, size_t blocks, uint8_t* dst,
                   size_t stride);

  /// n pixels of YCbCr to RGB8: chroma as wide as luma; half as wide, n / 2 samples rounded up;
  /// half as high too, [0] being the nearer row and [1] the farther. Narrow chroma has a copy of
  /// its first sample before it and of its last behind it; 64 samples behind all those may be read.
  void (*jpeg_rgb)(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n, uint8_t* rgb);
  void (*jpeg_rgb_h2v1)(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n,
                        uint8_t* rgb);
  void (*jpeg_rgb_h2v2)(const uint8_t* y, const uint8_t* const* cb, const uint8_t* const* cr,
                        size_t n, uint8_t* rgb);
};

/// Rows that the horizontal kernel is best given at once.
enum { kResampleRows = 16 };
/// The same of png_unfilter.
enum { kPngRows = 16 };

extern const struct Kernels kScalarKernels;
#if MMCPP_SIMD && defined(__x86_64__)
extern const struct Kernels kAvx2Kernels;
extern const struct Kernels kAvx512Kernels;  // avx512f, bw, dq, vl, vbmi, vnni
#endif
#if MMCPP_SIMD && defined(__aarch64__)
extern const struct Kernels kNeonKernels;
#endif

}  // namespace mmcpp::simd
