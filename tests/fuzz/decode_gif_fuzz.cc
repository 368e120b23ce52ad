// Bytes to the GIF decoder.
#include "fuzz_decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return mmcpp::fuzz::CheckFormat(data, size, {'G', 'I', 'F', '8', '9', 'a'});
}
