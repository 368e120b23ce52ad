// codec/versions.cc: every library is named once, with a version that is a number.
#include "codec/versions.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace mmcpp::codec {
namespace {

TEST(LibraryVersions, AreNumbers) {
  std::set<std::string> names;
  for (const auto& [name, version] : LibraryVersions()) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_TRUE(std::regex_match(version, std::regex("\\d+(\\.\\d+)+"))) << name << " " << version;
  }
  EXPECT_EQ(names.count("libjpeg-turbo"), 1u);
  EXPECT_EQ(names.count("libwebp"), 1u);
}

}  // namespace
}  // namespace mmcpp::codec
