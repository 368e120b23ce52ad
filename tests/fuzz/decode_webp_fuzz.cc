// Bytes to the WebP decoder.
#include "fuzz_decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  if (bytes.size() < 12) bytes.resize(12);
  // The size of the RIFF chunk stays the input's: damage to it matters.
  const uint8_t riff[] = {'R', 'I', 'F', 'F'};
  for (size_t i = 0; i < 4; ++i) bytes[i] = riff[i];
  return mmcpp::fuzz::CheckFormat(bytes.data(), bytes.size(), {'W', 'E', 'B', 'P'}, 8);
}
