// Runs a test body once per kernel table that this machine can run.
//
//   TEST_P(MyIsaTest, Something) { kernels().map_to_32(...); }
//   MMCPP_INSTANTIATE_ISA_TEST(MyIsaTest);
//
// The table is also made the active one, so that code above the kernels runs on it too. A body that
// never touches it proves nothing: it fails.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "simd/dispatch.h"

namespace mmcpp::test {

class IsaTest : public ::testing::TestWithParam<const simd::Kernels*> {
 protected:
  void SetUp() override { simd::OverrideKernels(GetParam()); }
  void TearDown() override {
    simd::OverrideKernels(nullptr);
    EXPECT_TRUE(used_ || IsSkipped()) << "the body never asked for its kernel table";
  }

  const simd::Kernels& kernels() {
    used_ = true;
    const auto active = simd::ActiveKernels();
    EXPECT_EQ(*active, GetParam());
    return *GetParam();
  }

 private:
  bool used_ = false;
};

inline std::vector<const simd::Kernels*> AllRunnableKernels() {
  const auto list = simd::RunnableKernels();
  return {list.begin(), list.end()};
}

inline std::string KernelsName(const ::testing::TestParamInfo<const simd::Kernels*>& info) {
  return info.param->name;
}

}  // namespace mmcpp::test

#define MMCPP_INSTANTIATE_ISA_TEST(Fixture)                                                        \
  INSTANTIATE_TEST_SUITE_P(Isa, Fixture, ::testing::ValuesIn(::mmcpp::test::AllRunnableKernels()), \
                           ::mmcpp::test::KernelsName)
