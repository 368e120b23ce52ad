// driver/build_info.cc: every field says something true of this program.
#include "mmcpp/build_info.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "par/par.h"

namespace mmcpp {
namespace {

TEST(GetBuildInfo, DescribesThisBuild) {
  const BuildInfo info = GetBuildInfo();
  EXPECT_EQ(std::count(info.version.begin(), info.version.end(), '.'), 2) << info.version;
  EXPECT_EQ(info.executor, par::ExecutorName());
  EXPECT_NE(std::find(info.available_isas.begin(), info.available_isas.end(), info.isa),
            info.available_isas.end());
  EXPECT_FALSE(info.codecs.empty());
}

}  // namespace
}  // namespace mmcpp
