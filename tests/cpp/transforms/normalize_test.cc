// Normalisation tables against numpy's float32 and float64 arithmetic, all 256 entries per channel.
#include "transforms/normalize.h"

#include <gtest/gtest.h>

#include "mmcpp/hash.h"
#include "support/golden.h"

namespace mmcpp::transforms {
namespace {

std::string Digest(const NormTable& table) {
  return test::Hex(
      ContentHash(Bytes(reinterpret_cast<const uint8_t*>(table.value.data()), sizeof table.value)));
}

// Digests of the little-endian tables that numpy 2 gives for the two formulas of the header; the
// fused ones are also torch 2.13's.
TEST(MakeNormTable, EqualsNumpy) {
  const struct {
    std::array<float, 3> mean, std;
    const char *pil, *fused;
  } cases[] = {
      {{0.48145466f, 0.4578275f, 0.40821073f},
       {0.26862954f, 0.26130258f, 0.27577711f},
       "1b5fc3b33df3888b",
       "47479a3ca77adc99"},
      {{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}, "c7484570aeda067d", "e418c73f8307d978"},
      {{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}, "384ecbe8d1ba53ca", "a43b1eb412989edc"},
      {{0, 0, 0}, {1, 1, 1}, "4c1d21920f70f8b4", "4c1d21920f70f8b4"},
      {{0.1307f, 0.33333334f, 0.9f},
       {0.3081f, 0.05f, 1.7f},
       "8a85d80e9fb57a76",
       "5f2444d6924296cd"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Digest(MakeNormTable(NormRule::kPil, c.mean, c.std)), c.pil);
    EXPECT_EQ(Digest(MakeNormTable(NormRule::kFused, c.mean, c.std)), c.fused);
  }
}

TEST(MakeNormTable, ReciprocalIsAProductInFloat) {
  const auto table = MakeNormTable(NormRule::kReciprocal, {0.3f, 0.4f, 0.5f}, {0.2f, 0.7f, 1.1f});
  const auto pil = MakeNormTable(NormRule::kPil, {0.3f, 0.4f, 0.5f}, {0.2f, 0.7f, 1.1f});
  size_t differ = 0;
  for (size_t byte = 0; byte < 256; ++byte) {
    const float scaled = static_cast<float>(byte) * 0.003921569f;
    EXPECT_EQ(table.value[1][byte], (scaled - 0.4f) / 0.7f);
    differ += table.value[1][byte] != pil.value[1][byte];
  }
  EXPECT_GT(differ, 50u) << "they are two rules";
}

TEST(MakeDoubleNormTable, RoundsAfterEveryStep) {
  const std::array<double, 3> mean = {0.48145466, 0.5, 0.1}, std = {0.26862954, 0.5, 0.3};
  const auto table = MakeDoubleNormTable(mean, std);
  for (size_t channel = 0; channel < 3; ++channel) {
    for (size_t byte = 0; byte < 256; ++byte) {
      volatile float value = static_cast<float>(static_cast<double>(byte) / 255);
      value = static_cast<float>(double{value} - mean[channel]);
      value = static_cast<float>(double{value} * (1 / std[channel]));
      ASSERT_EQ(table.value[channel][byte], value);
    }
  }
  EXPECT_EQ(Digest(table), "045b7dbf8c07a277") << "numpy 2's";
}

// torch 2.13: torch.arange(256, dtype=torch.uint8) * (1 / 255), for each channel.
TEST(MakeNormTable, ReciprocalAloneEqualsTorch) {
  EXPECT_EQ(Digest(MakeNormTable(NormRule::kReciprocal, {0, 0, 0}, {1, 1, 1})), "d1af1516ecec599d");
}

TEST(MakeNormTable, PilEqualsDivisionInFloat) {
  const auto table = MakeNormTable(NormRule::kPil, {0.3f, 0.4f, 0.5f}, {0.2f, 0.7f, 1.1f});
  const float mean[] = {0.3f, 0.4f, 0.5f}, std[] = {0.2f, 0.7f, 1.1f};
  for (size_t channel = 0; channel < 3; ++channel) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const float scaled = static_cast<float>(byte) / 255.0f;
      EXPECT_EQ(table.value[channel][byte], (scaled - mean[channel]) / std[channel]);
    }
  }
}

}  // namespace
}  // namespace mmcpp::transforms
