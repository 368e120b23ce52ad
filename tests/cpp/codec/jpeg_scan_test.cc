#include "codec/jpeg_scan.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/isa_fixture.h"
#include "support/jpeg_writer.h"

namespace mmcpp::codec {
namespace {

class JpegScanTest : public test::IsaTest {
 protected:
  /// Decodes a gray picture of eight rows and `mcus` blocks; how often Decode went well.
  uint32_t Decode(const std::vector<uint8_t>& bytes, uint32_t mcus, uint32_t at_once,
                  bool* at_end) {
    JpegFrame frame;
    EXPECT_TRUE(ReadJpegFrame(bytes, &frame));
    const auto reader = JpegScanReader::Create(bytes, frame, kernels());
    std::vector<int16_t> coefficients(at_once * 64);
    std::vector<uint8_t> last(at_once);
    reader->AddBlock({0, 1, coefficients.data(), last.data()});
    uint32_t done = 0;
    dc_.clear();
    for (uint32_t mcu = 0; mcu < mcus; mcu += at_once, ++done) {
      std::fill(coefficients.begin(), coefficients.end(), int16_t{0});
      const uint32_t count = std::min(at_once, mcus - mcu);
      if (!reader->Decode(0, count)) break;
      for (uint32_t i = 0; i < count; ++i) dc_.push_back(coefficients[i * 64]);
    }
    *at_end = reader->AtEnd();
    return done;
  }

  static std::vector<uint8_t> Picture(int interval) {
    test::JpegPlan plan;
    plan.height = 8;
    plan.width = 8 * 5'000;
    plan.sampling = {0x11};
    plan.restart_interval = interval;
    return test::JpegWriter(plan).Write();
  }

  std::vector<int> dc_;
};

// More than a window holds.
TEST_P(JpegScanTest, AnyNumberOfMcusAtOnce) {
  for (int interval : {0, 1, 3, 4'999, 6'000}) {
    const auto bytes = Picture(interval);
    ASSERT_GT(bytes.size(), 40'000U);
    std::vector<int> want;
    for (uint32_t at_once : {1U, 7U, 5'000U}) {
      bool at_end = false;
      EXPECT_EQ(Decode(bytes, 5'000, at_once, &at_end), (5'000 + at_once - 1) / at_once);
      EXPECT_TRUE(at_end);
      if (want.empty()) want = dc_;
      EXPECT_EQ(dc_, want);
    }
  }
}

TEST_P(JpegScanTest, NoticesTheEnd) {
  const auto bytes = Picture(0);
  bool at_end = true;
  EXPECT_EQ(Decode(bytes, 4'900, 1, &at_end), 4'900U);
  EXPECT_FALSE(at_end);                                 // blocks are left
  EXPECT_EQ(Decode(bytes, 5'001, 1, &at_end), 5'000U);  // the next has no bits
}

TEST_P(JpegScanTest, RestartMarkersComeInOrder) {
  auto bytes = Picture(4);
  for (size_t i = bytes.size() / 2;; ++i) {
    if (bytes[i] != 0xff || bytes[i + 1] == 0) continue;
    bytes[i + 1] ^= 4;
    break;
  }
  bool at_end = false;
  const uint32_t done = Decode(bytes, 5'000, 4, &at_end);
  EXPECT_GT(done, 500U);
  EXPECT_LT(done, 750U);
}

MMCPP_INSTANTIATE_ISA_TEST(JpegScanTest);

}  // namespace
}  // namespace mmcpp::codec
