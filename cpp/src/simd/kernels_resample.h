// The resampling kernels of the tables, in files of their own.
#pragma once

#include "simd/kernels.h"

namespace mmcpp::simd {

#if MMCPP_SIMD && defined(__x86_64__)
// As the fields of Kernels say that have these names.
size_t PackedHorizontalBytesAvx2(const ResampleAxis* axis);
void PackHorizontalAvx2(const ResampleAxis* axis, void* packed);
size_t PackedVerticalBytesAvx2(const ResampleAxis* axis);
void PackVerticalAvx2(const ResampleAxis* axis, void* packed);
void ResampleHorizontalRgb8Avx2(const ResampleAxis* axis, const RowSpan* span, size_t rows,
                                const uint8_t* const* src, uint8_t* const* dst);
void ResampleVerticalU8Avx2(const ResampleAxis* axis, int32_t y, size_t bytes,
                            const uint8_t* const* src, uint8_t* dst);
size_t PackedHorizontalBytesAvx512(const ResampleAxis* axis);
void PackHorizontalAvx512(const ResampleAxis* axis, void* packed);
size_t PackedVerticalBytesAvx512(const ResampleAxis* axis);
void PackVerticalAvx512(const ResampleAxis* axis, void* packed);
void ResampleHorizontalRgb8Avx512(const ResampleAxis* axis, const RowSpan* span, size_t rows,
                                  const uint8_t* const* src, uint8_t* const* dst);
void ResampleVerticalU8Avx512(const ResampleAxis* axis, int32_t y, size_t bytes,
                              const uint8_t* const* src, uint8_t* dst);
#endif

}  // namespace mmcpp::simd
