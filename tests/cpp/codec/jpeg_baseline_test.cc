// The decoder of this library against libjpeg-turbo, byte for byte and verdict for verdict.
#include "codec/jpeg_baseline.h"

#include <gtest/gtest.h>

#include <random>

#include "support/isa_fixture.h"
#include "support/jpeg_turbo_oracle.h"
#include "support/jpeg_writer.h"

namespace mmcpp::test {
namespace {

class JpegBaselineTest : public IsaTest {
 protected:
  /// A picture that the decoder takes, of any shape.
  static JpegPlan Plan(std::mt19937* random) {
    const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(*random); };
    JpegPlan plan;
    plan.height = 1 + below(70);
    plan.width = 5 + below(below(4) == 0 ? 400 : 90);
    const std::vector<std::vector<uint8_t>> samplings = {
        {0x11, 0x11, 0x11}, {0x21, 0x11, 0x11}, {0x22, 0x11, 0x11}, {0x11}, {0x22}};
    plan.sampling = samplings[static_cast<size_t>(below(5))];
    plan.restart_interval = below(3) == 0 ? 1 + below(9) : 0;
    plan.amplitude = below(3) == 0 ? 60 : 8;
    plan.dc_amplitude = 60;
    plan.max_quantiser = 1 + below(8);
    plan.density = 0.05 + 0.1 * below(8);
    plan.seed = (*random)();
    return plan;
  }
};

TEST_P(JpegBaselineTest, EqualsLibjpegTurbo) {
  (void)kernels();
  std::mt19937 random(1);
  int whole = 0;
  for (int i = 0; i < 400; ++i) {
    const JpegPlan plan = Plan(&random);
    const auto bytes = JpegWriter(plan).Write();
    ASSERT_EQ(DifferenceFromTurbo(bytes), "") << i;
    whole += RowsByBaseline(bytes) == plan.height;
  }
  EXPECT_GE(whole, 300);  // what is left has coefficients beyond those of pictures
}

TEST_P(JpegBaselineTest, CoefficientsThatNoPictureHas) {
  (void)kernels();
  std::mt19937 random(2);
  int whole = 0;
  for (int i = 0; i < 200; ++i) {
    JpegPlan plan = Plan(&random);
    plan.height = 40;
    plan.amplitude = 1 << (i % 10);
    plan.dc_amplitude = 1'000;
    plan.max_quantiser = 255;
    const auto bytes = JpegWriter(plan).Write();
    ASSERT_EQ(DifferenceFromTurbo(bytes), "") << i;
    whole += RowsByBaseline(bytes) == plan.height;
  }
  EXPECT_LT(whole, 50);
}

TEST_P(JpegBaselineTest, TakesWidthsAroundTheKernels) {
  (void)kernels();
  for (uint8_t sampling : {0x11, 0x21, 0x22}) {
    for (int width = 5; width < 140; ++width) {
      JpegPlan plan;
      plan.width = width;
      plan.height = 19;
      plan.sampling[0] = sampling;
      plan.amplitude = 5;
      plan.dc_amplitude = 60;
      plan.seed = static_cast<uint32_t>(width);
      const auto bytes = JpegWriter(plan).Write();
      ASSERT_EQ(DifferenceFromTurbo(bytes), "") << width;
      ASSERT_EQ(RowsByBaseline(bytes), 19) << width;
    }
  }
}

/// Small pictures whose every byte is damaged in turn.
std::vector<std::vector<uint8_t>> SmallPictures() {
  std::vector<std::vector<uint8_t>> all;
  for (int i = 0; i < 4; ++i) {
    JpegPlan plan;
    plan.height = 20;
    plan.width = 35;
    plan.sampling = {static_cast<uint8_t>(i == 0 ? 0x11 : i == 1 ? 0x21 : 0x22), 0x11, 0x11};
    plan.restart_interval = i == 3 ? 2 : 0;
    plan.amplitude = 4;
    plan.dc_amplitude = 50;
    all.push_back(JpegWriter(plan).Write());
  }
  return all;
}

TEST_P(JpegBaselineTest, EveryPrefix) {
  (void)kernels();
  for (const auto& bytes : SmallPictures()) {
    for (size_t size = 4; size < bytes.size(); ++size) {
      ASSERT_EQ(DifferenceFromTurbo(Bytes(bytes.data(), size)), "") << size;
      // The end of the picture where its data end early, or where they do not.
      std::vector<uint8_t> ended(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      ended.insert(ended.end(), {0xff, 0xd9});
      ASSERT_EQ(DifferenceFromTurbo(ended), "") << size;
    }
  }
}

TEST_P(JpegBaselineTest, EveryByteDamaged) {
  (void)kernels();
  std::mt19937 random(3);
  for (const auto& bytes : SmallPictures()) {
    for (size_t at = 4; at < bytes.size(); ++at) {
      const std::vector<uint8_t> values = {static_cast<uint8_t>(bytes[at] ^ 1u << random() % 8),
                                           0xff, static_cast<uint8_t>(random())};
      for (uint8_t value : values) {
        std::vector<uint8_t> damaged = bytes;
        damaged[at] = value;
        ASSERT_EQ(DifferenceFromTurbo(damaged), "") << at << " " << int{value};
      }
      std::vector<uint8_t> more = bytes;
      more.insert(more.begin() + static_cast<std::ptrdiff_t>(at), static_cast<uint8_t>(random()));
      ASSERT_EQ(DifferenceFromTurbo(more), "") << at;
    }
  }
}

TEST_P(JpegBaselineTest, WhatFollowsTheScan) {
  (void)kernels();
  for (const auto& bytes : SmallPictures()) {
    const std::vector<std::vector<uint8_t>> ends = {{},
                                                    {0xff},
                                                    {0xff, 0xd8},
                                                    {0xff, 0xd0},
                                                    {0, 0xff, 0xd9},
                                                    {0xff, 0xff, 0xd9},
                                                    {0xff, 0, 0xff, 0xd9},
                                                    {0xff, 0xd9, 1, 2, 3},
                                                    {0xff, 0xfe, 0, 2, 0xff, 0xd9},
                                                    {0xff, 0xdc, 0, 4, 0, 9, 0xff, 0xd9}};
    for (const auto& end : ends) {
      std::vector<uint8_t> ended(bytes.begin(), bytes.end() - 2);
      ended.insert(ended.end(), end.begin(), end.end());
      EXPECT_EQ(DifferenceFromTurbo(ended), "");
    }
  }
}

/// 64 KiB at a time come to libjpeg-turbo, and a window of the data to the decoder.
TEST_P(JpegBaselineTest, LongScans) {
  (void)kernels();
  for (int interval : {0, 7, 900}) {
    JpegPlan plan;
    plan.height = 500;
    plan.width = 700;
    plan.restart_interval = interval;
    plan.amplitude = 6;
    plan.dc_amplitude = 50;
    plan.density = 0.6;
    auto bytes = JpegWriter(plan).Write();
    ASSERT_GT(bytes.size(), 200'000U);
    EXPECT_EQ(DifferenceFromTurbo(bytes), "");
    EXPECT_EQ(RowsByBaseline(bytes), 500);
    for (size_t size : {size_t{65'536}, size_t{131'072}, bytes.size() - 2, bytes.size() - 1}) {
      for (size_t cut : {size - 1, size}) {
        EXPECT_EQ(DifferenceFromTurbo(Bytes(bytes.data(), cut)), "") << cut;
      }
    }
    bytes[bytes.size() / 2] ^= 0x10;
    EXPECT_EQ(DifferenceFromTurbo(bytes), "");
  }
}

TEST(JpegBaseline, GivesRowsAboveDamage) {
  JpegPlan plan;
  plan.height = 320;
  plan.width = 64;
  plan.amplitude = 3;
  plan.dc_amplitude = 50;
  auto bytes = JpegWriter(plan).Write();
  bytes.resize(bytes.size() / 2);
  const int rows = RowsByBaseline(bytes);
  EXPECT_GT(rows, 100);
  EXPECT_LT(rows, 220);
  EXPECT_EQ(rows % 16, 15);  // the last row of chroma there takes part of the next
}

MMCPP_INSTANTIATE_ISA_TEST(JpegBaselineTest);

}  // namespace
}  // namespace mmcpp::test
