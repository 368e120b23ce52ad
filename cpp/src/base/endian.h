// The order of bytes in memory, where it decides between a fast way and a general one.
#pragma once

namespace mmcpp {

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
constexpr bool kLittleEndian = true;
#else
constexpr bool kLittleEndian = false;
#endif

}  // namespace mmcpp
