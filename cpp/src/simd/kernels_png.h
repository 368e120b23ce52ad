// The PNG kernels of the tables, in files of their own.
#pragma once

#include "simd/kernels.h"

namespace mmcpp::simd {

// As Kernels::png_unfilter says.
void PngUnfilterScalar(size_t rows, size_t bytes, size_t pixel_bytes, const uint8_t* const* src,
                       const uint8_t* above, uint8_t* const* dst);
#if MMCPP_SIMD && defined(__x86_64__)
void PngUnfilterAvx2(size_t rows, size_t bytes, size_t pixel_bytes, const uint8_t* const* src,
                     const uint8_t* above, uint8_t* const* dst);
#endif
#if MMCPP_SIMD && defined(__aarch64__)
void PngUnfilterNeon(size_t rows, size_t bytes, size_t pixel_bytes, const uint8_t* const* src,
                     const uint8_t* above, uint8_t* const* dst);
#endif

}  // namespace mmcpp::simd
