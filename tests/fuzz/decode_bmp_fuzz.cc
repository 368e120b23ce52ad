// Bytes to the BMP decoder: as a BMP, or as a bare DIB where the first byte is odd.
#include "fuzz_decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0 && data[0] % 2 == 1) {
    return mmcpp::fuzz::CheckFormat(data + 1, size - 1, {40, 0, 0, 0});
  }
  return mmcpp::fuzz::CheckFormat(data, size, {'B', 'M'});
}
