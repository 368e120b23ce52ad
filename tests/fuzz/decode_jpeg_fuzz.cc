// Bytes to the JPEG decoder.
#include "fuzz_decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return mmcpp::fuzz::CheckFormat(data, size, {0xff, 0xd8, 0xff});
}
