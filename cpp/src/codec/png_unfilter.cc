// Row filters, scalar.
#include "codec/png_unfilter.h"

#include <cstdlib>
#include <cstring>

namespace mmcpp::codec {
namespace {

uint8_t Sum(unsigned a, unsigned b) { return static_cast<uint8_t>(a + b); }

void Sub(const uint8_t* filtered, uint8_t* row, size_t bytes, size_t pixel_bytes) {
  std::memmove(row, filtered, pixel_bytes);
  for (size_t i = pixel_bytes; i < bytes; ++i) row[i] = Sum(filtered[i], row[i - pixel_bytes]);
}

void Up(const uint8_t* filtered, const uint8_t* above, uint8_t* row, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) row[i] = Sum(filtered[i], above[i]);
}

void Average(const uint8_t* filtered, const uint8_t* above, uint8_t* row, size_t bytes,
             size_t pixel_bytes) {
  for (size_t i = 0; i < pixel_bytes; ++i) row[i] = Sum(filtered[i], above[i] / 2u);
  for (size_t i = pixel_bytes; i < bytes; ++i) {
    row[i] = Sum(filtered[i], (unsigned{row[i - pixel_bytes]} + above[i]) / 2);
  }
}

void Paeth(const uint8_t* filtered, const uint8_t* above, uint8_t* row, size_t bytes,
           size_t pixel_bytes) {
  for (size_t i = 0; i < pixel_bytes; ++i) row[i] = Sum(filtered[i], above[i]);
  for (size_t i = pixel_bytes; i < bytes; ++i) {
    const int left = row[i - pixel_bytes], up = above[i], corner = above[i - pixel_bytes];
    const int to_left = std::abs(up - corner), to_up = std::abs(left - corner);
    const int to_corner = std::abs(left + up - 2 * corner);
    const int nearest = to_left <= to_up && to_left <= to_corner ? left
                        : to_up <= to_corner                     ? up
                                                                 : corner;
    row[i] = Sum(filtered[i], static_cast<unsigned>(nearest));
  }
}

}  // namespace

bool UnfilterRow(int filter, const uint8_t* filtered, const uint8_t* above, uint8_t* row,
                 size_t bytes, size_t pixel_bytes) {
  switch (filter) {
    case 0:
      if (row != filtered) std::memmove(row, filtered, bytes);
      return true;
    case 1:
      Sub(filtered, row, bytes, pixel_bytes);
      return true;
    case 2:
      Up(filtered, above, row, bytes);
      return true;
    case 3:
      Average(filtered, above, row, bytes, pixel_bytes);
      return true;
    case 4:
      Paeth(filtered, above, row, bytes, pixel_bytes);
      return true;
    default:
      return false;
  }
}

}  // namespace mmcpp::codec
