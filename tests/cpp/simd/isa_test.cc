// simd/isa.cc: the names tell what dispatch decided.
#include <gtest/gtest.h>

#include <algorithm>

#include "mmcpp/build_info.h"
#include "simd/dispatch.h"

namespace mmcpp {
namespace {

TEST(Isa, NamesTheTables) {
  const auto names = AvailableIsas();
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names[0], "scalar");
  const auto active = ActiveIsa();
  ASSERT_TRUE(active.ok());
  EXPECT_NE(std::find(names.begin(), names.end(), *active), names.end());
  simd::OverrideKernels(simd::RunnableKernels()[0]);
  EXPECT_EQ(*ActiveIsa(), "scalar");
  simd::OverrideKernels(nullptr);
  EXPECT_EQ(*ActiveIsa(), *active);
}

}  // namespace
}  // namespace mmcpp
