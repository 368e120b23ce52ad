// Bytes to the JPEG decoder, and to libjpeg-turbo alone: verdict, message and pixels are the same.
#include <algorithm>

#include "fuzz_decode.h"
#include "support/jpeg_turbo_oracle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  if (bytes.size() < 3) bytes.resize(3);
  std::copy_n("\xff\xd8\xff", 3, bytes.begin());
  const auto info = mmcpp::ReadImageInfo(bytes);
  const uint64_t pixels =
      info.ok() ? static_cast<uint64_t>(info->height) * static_cast<uint64_t>(info->width) : 0;
  if (pixels > 0 && pixels <= mmcpp::fuzz::SmallLimits().max_pixels) {
    mmcpp::fuzz::Require(mmcpp::test::DifferenceFromTurbo(bytes).empty(),
                         "the decoders give the same pixels or the same error");
  }
  return mmcpp::fuzz::CheckFormat(data, size, {0xff, 0xd8, 0xff});
}
