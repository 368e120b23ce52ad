// Bytes to the front door, under every profile in turn.
#include "fuzz_decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mmcpp::fuzz::CheckDecode({data, size}, mmcpp::fuzz::PickOptions(size));
  return 0;
}
