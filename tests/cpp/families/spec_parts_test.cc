// families/spec_parts.cc: what it reads and refuses.
#include "families/spec_parts.h"

#include <gtest/gtest.h>

#include <string>

namespace mmcpp::families {
namespace {

SpecReader Reader(const std::string& keys) {
  return *SpecReader::Parse("{\"family\": \"x\", " + keys + "}", UnknownKeys::kError);
}

TEST(SpecParts, Colors) {
  SpecReader spec = Reader("\"color\": [0, 200, 255]");
  EXPECT_EQ(ReadColor(&spec, "color"), (std::array<uint8_t, 3>{0, 200, 255}));
  EXPECT_EQ(ReadColor(&spec, "other"), (std::array<uint8_t, 3>{0, 0, 0}));
  EXPECT_TRUE(spec.Finish().ok());
  for (const char* wrong : {"[0, 200]", "[0, 200, 256]", "[-1, 0, 0]", "[1, 2, 3, 4]"}) {
    SpecReader refused = Reader(std::string("\"color\": ") + wrong);
    ReadColor(&refused, "color");
    EXPECT_EQ(refused.Finish().error().message,
              "x spec: color: expected three numbers from 0 to 255")
        << wrong;
  }
}

TEST(SpecParts, Resolutions) {
  SpecReader spec = Reader("\"sizes\": [[4, 8], [12, 4]]");
  const auto sizes = ReadResolutions(&spec, "sizes", 4);
  EXPECT_TRUE(spec.Finish().ok());
  ASSERT_EQ(sizes.size(), 2u);
  EXPECT_EQ(sizes[1].height, 12);
  EXPECT_EQ(sizes[1].width, 4);
  for (const char* wrong : {"[[4, 6]]", "[[0, 4]]", "[[4, 65536]]", "[]"}) {
    SpecReader refused = Reader(std::string("\"sizes\": ") + wrong);
    ReadResolutions(&refused, "sizes", 4);
    EXPECT_FALSE(refused.Finish().ok()) << wrong;
  }
}

}  // namespace
}  // namespace mmcpp::families
