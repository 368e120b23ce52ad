// The choice of a kernel table: best by default, by name on demand, an error for a wrong name.
#include "simd/dispatch.h"

#include <gtest/gtest.h>

#include <string>

namespace mmcpp::simd {
namespace {

TEST(Dispatch, ScalarRunsEverywhereAndTheBestIsLast) {
  const auto tables = RunnableKernels();
  ASSERT_GE(tables.size(), 1u);
  EXPECT_STREQ(tables[0]->name, "scalar");
  EXPECT_EQ(*ChooseKernels(nullptr), tables[tables.size() - 1]);
  EXPECT_EQ(*ChooseKernels(""), tables[tables.size() - 1]);
}

TEST(Dispatch, EveryRunnableTableCanBeForced) {
  for (const Kernels* kernels : RunnableKernels()) {
    EXPECT_EQ(*ChooseKernels(kernels->name), kernels);
  }
}

TEST(Dispatch, AnUnknownNameIsAnErrorThatNamesTheChoices) {
  for (const char* name : {"sse9", "Scalar", " scalar", "scalar,avx2"}) {
    const auto result = ChooseKernels(name);
    ASSERT_FALSE(result.ok()) << name;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(result.error().message.find("\"" + std::string(name) + "\""), std::string::npos);
    EXPECT_NE(result.error().message.find("scalar"), std::string::npos);
  }
}

TEST(Dispatch, TheScalarTableStandsForPlainCode) {
  OverrideKernels(&kScalarKernels);
  EXPECT_FALSE(MayUseBmi2());
  OverrideKernels(nullptr);
}

TEST(Dispatch, OverrideHoldsUntilTakenBack) {
  const auto before = ActiveKernels();
  Kernels other = kScalarKernels;
  OverrideKernels(&other);
  EXPECT_EQ(*ActiveKernels(), &other);
  OverrideKernels(nullptr);
  EXPECT_EQ(*ActiveKernels(), *before);
}

}  // namespace
}  // namespace mmcpp::simd
