#include "codec/jpeg_turbo.h"

#include <gtest/gtest.h>

#include "support/decode_golden.h"
#include "support/jpeg_turbo_oracle.h"

namespace mmcpp::test {
namespace {

// Pillow's digests are those of tests/golden; both ways to a picture must come to the same.
TEST(JpegTurbo, IsWhatSeedsAreDecodedBy) {
  for (const char* name : {"rgb420", "progressive", "cut", "without_eoi", "arithmetic"}) {
    const auto bytes = FuzzFile("corpus/decode_jpeg_fuzz/" + std::string(name) + ".jpg");
    EXPECT_EQ(DifferenceFromTurbo(bytes), "") << name;
  }
}

TEST(JpegTurbo, SaysWhereAFileEnds) {
  const auto bytes = FuzzFile("corpus/decode_jpeg_fuzz/cut.jpg");
  EXPECT_EQ(DecodeByTurbo(bytes).error().message.substr(0, 19), "jpeg: ends at byte ");
}

}  // namespace
}  // namespace mmcpp::test
