// Undoing the row filters of PNG (PNG specification, third edition, section 9).
#pragma once

#include <cstddef>
#include <cstdint>

namespace mmcpp::codec {

/// Undoes `filter` on one row of `bytes` bytes; `above` is the finished row before it, zeros for
/// the first row of a pass. `pixel_bytes` is the distance to the pixel on the left, 1 to 8. row ==
/// filtered is allowed, and so is row before filtered in the same memory. False if there is no such
/// filter; the row is then untouched.
bool UnfilterRow(int filter, const uint8_t* filtered, const uint8_t* above, uint8_t* row,
                 size_t bytes, size_t pixel_bytes);

}  // namespace mmcpp::codec
