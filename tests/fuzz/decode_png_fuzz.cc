// Bytes to the PNG decoder.
#include "fuzz_decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return mmcpp::fuzz::CheckFormat(data, size, {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'});
}
