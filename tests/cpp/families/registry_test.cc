// families/registry.cc: from a spec to the family it names.
#include "mmcpp/registry.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <string>

#include "support/specs.h"

namespace mmcpp {
namespace {

void ExpectError(const std::string& spec, const std::string& message) {
  const auto family = FamilyFromSpec(spec);
  ASSERT_FALSE(family.ok());
  EXPECT_EQ(family.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(family.error().message, message);
}

TEST(FamilyFromSpec, BuildsTheNamedFamily) {
  const auto family = FamilyFromSpec(test::QwenVlSpec().dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  EXPECT_STREQ((*family)->name(), "qwen_vl");
}

TEST(FamilyFromSpec, RefusesOtherNames) {
  std::string names;
  for (const auto& name : FamilyNames()) names += (names.empty() ? "`" : ", `") + name + "`";
  ExpectError(R"({"family": "foo"})", "spec: unknown family `foo`, expected " + names);
  ExpectError(R"({"family": ""})", "spec: unknown family ``, expected " + names);
  ExpectError("{}", "spec: missing field `family`");
}

TEST(FamilyFromSpec, UnknownKeys) {
  nlohmann::json spec = test::QwenVlSpec();
  spec["max_pixel"] = 5;
  ExpectError(spec.dump(), "qwen_vl spec: unknown field `max_pixel`; did you mean `max_pixels`?");
  EXPECT_TRUE(FamilyFromSpec(spec.dump(), UnknownKeys::kIgnore).ok());
}

// The environment is read once in a process, so this test runs itself again in another one.
TEST(FamilyFromSpec, AWrongIsaRefusesEveryFamily) {
  const char* isa = std::getenv("MMCPP_ISA");
  if (isa != nullptr && std::string(isa) == "mmx") {
    const auto family = FamilyFromSpec(test::QwenVlSpec().dump());
    ASSERT_FALSE(family.ok());
    EXPECT_EQ(family.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(family.error().message.find("mmx"), std::string::npos) << family.error().message;
    return;
  }
  char self[PATH_MAX] = {};
  ASSERT_GT(readlink("/proc/self/exe", self, sizeof self - 1), 0);
  const std::string command = "MMCPP_ISA=mmx '" + std::string(self) +
                              "' --gtest_filter=FamilyFromSpec.AWrongIsaRefusesEveryFamily";
  EXPECT_EQ(std::system((command + " > /dev/null").c_str()), 0);
}

TEST(FamilyNames, ListsWhatFamilyFromSpecBuilds) {
  const auto names = FamilyNames();
  EXPECT_NE(std::find(names.begin(), names.end(), "qwen_vl"), names.end());
  for (const std::string& name : names) {
    const auto family = FamilyFromSpec("{\"family\": \"" + name + "\"}");
    ASSERT_FALSE(family.ok());
    EXPECT_EQ(family.error().message.find(name + " spec: missing field"), 0u);
  }
}

}  // namespace
}  // namespace mmcpp
