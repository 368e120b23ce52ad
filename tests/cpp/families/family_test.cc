// families/family.cc: plain positions unless a family has others.
#include "mmcpp/family.h"

#include <gtest/gtest.h>

#include "support/fake_family.h"

namespace mmcpp {
namespace {

TEST(Family, PositionsArePlainByDefault) {
  const auto positions = test::FakeFamily().ComputePositions({}, {}, {});
  ASSERT_TRUE(positions.ok());
  EXPECT_TRUE(std::holds_alternative<Rope1D>(*positions));
}

}  // namespace
}  // namespace mmcpp
