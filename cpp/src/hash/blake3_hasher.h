// The start of a BLAKE3 hash, from any thread.
#pragma once

#include <blake3.h>

#include <cstdint>

namespace mmcpp {

inline void StartHash(blake3_hasher* hasher) noexcept {
  // The library keeps what it finds of the processor in a plain global, at its first use: that one
  // must be over before two threads meet there.
  static const bool kLooked = [] {
    blake3_hasher first;
    blake3_hasher_init(&first);
    uint8_t byte;
    blake3_hasher_finalize(&first, &byte, 1);
    return true;
  }();
  (void)kLooked;
  blake3_hasher_init(hasher);
}

}  // namespace mmcpp
