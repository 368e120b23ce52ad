// The alpha kernels of the tables, in files of their own.
#pragma once

#include "simd/kernels.h"

namespace mmcpp::simd {

// As Kernels::blend_rgba8 and Kernels::drop_rgba8 say.
void BlendRgba8Scalar(const uint8_t* rgba, size_t n, const uint8_t* background, uint8_t* rgb);
void DropRgba8Scalar(const uint8_t* rgba, size_t n, uint8_t* rgb);
#if MMCPP_SIMD && defined(__x86_64__)
void BlendRgba8Avx2(const uint8_t* rgba, size_t n, const uint8_t* background, uint8_t* rgb);
void DropRgba8Avx2(const uint8_t* rgba, size_t n, uint8_t* rgb);
#endif
#if MMCPP_SIMD && defined(__aarch64__)
void BlendRgba8Neon(const uint8_t* rgba, size_t n, const uint8_t* background, uint8_t* rgb);
void DropRgba8Neon(const uint8_t* rgba, size_t n, uint8_t* rgb);
#endif

}  // namespace mmcpp::simd
