// The JPEG kernels of every table against the scalar ones, which tests/cpp/codec holds against
// libjpeg-turbo; entropy decoding is tested there too.
#include "simd/kernels_jpeg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "support/guarded.h"
#include "support/isa_fixture.h"

namespace mmcpp::simd {
namespace {

constexpr uint8_t kNatural[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                  12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                  35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                  58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

class KernelsJpegTest : public test::IsaTest {
 protected:
  int Below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  std::vector<uint8_t> Noise(size_t size) {
    const int kind = Below(3);
    std::vector<uint8_t> bytes(size);
    for (uint8_t& byte : bytes) {
      byte = static_cast<uint8_t>(kind == 0   ? Below(256)
                                  : kind == 1 ? Below(2) * 255
                                              : Below(4) + 126);
    }
    return bytes;
  }

  std::mt19937 random_{1};
};

TEST_P(KernelsJpegTest, IdctEqualsScalar) {
  constexpr size_t kStride = 128, kMaxBlocks = 9;
  int sound = 0, large = 0;
  for (int round = 0; round < 3'000; ++round) {
    const size_t blocks = 1 + static_cast<size_t>(Below(kMaxBlocks));
    JpegQuantisers quantisers;
    for (uint16_t& value : quantisers.values) value = static_cast<uint16_t>(1 + Below(255));
    const int magnitude = 1 << Below(13);
    // One block more for kernels that take several at once.
    std::vector<int16_t> coefficients((blocks + 1) * 64);
    std::vector<uint8_t> last(blocks + 1);
    for (size_t b = 0; b < blocks; ++b) {
      const int kind = Below(5);
      last[b] = static_cast<uint8_t>(kind == 0 ? 0 : kind < 3 ? Below(10) : Below(64));
      for (size_t k = 0; k <= last[b]; ++k) {
        const int quantiser = quantisers.values[kNatural[k]];
        const int limit =
            std::min(k == 0 ? 1'024 : magnitude, int{kJpegMaxCoefficient}) / quantiser;
        const bool extreme = Below(20) == 0;
        const int value = extreme ? limit : Below(2 * limit + 1) - limit;
        coefficients[b * 64 + kNatural[k]] = static_cast<int16_t>(value);
      }
    }
    auto want_coefficients = coefficients;
    std::vector<uint8_t> want(8 * kStride), got(8 * kStride);
    const int want_large = JpegIdctScalar(want_coefficients.data(), last.data(), &quantisers,
                                          blocks, want.data(), kStride);
    const int got_large = kernels().jpeg_idct(coefficients.data(), last.data(), &quantisers, blocks,
                                              got.data(), kStride);
    ASSERT_EQ(got_large, want_large) << round;
    ASSERT_EQ(coefficients, std::vector<int16_t>(coefficients.size())) << round;
    ++(want_large ? large : sound);
    if (want_large) continue;
    for (size_t y = 0; y < 8; ++y) {
      for (size_t x = 0; x < 8 * blocks; ++x) {
        ASSERT_EQ(int{got[y * kStride + x]}, int{want[y * kStride + x]}) << round;
      }
    }
  }
  EXPECT_GT(sound, 1'000);
  EXPECT_GT(large, 300);
}

// jdcolor.c's tables, for every pair of chroma.
TEST_P(KernelsJpegTest, RgbOfEveryChroma) {
  for (int cb = 0; cb < 256; ++cb) {
    for (int luma : {0, 1, 77, 128, 255}) {
      std::vector<uint8_t> y(256 + 64, static_cast<uint8_t>(luma)),
          blue(256 + 64, static_cast<uint8_t>(cb));
      std::vector<uint8_t> red(256 + 64);
      for (size_t cr = 0; cr < 256; ++cr) red[cr] = static_cast<uint8_t>(cr);
      std::vector<uint8_t> got(768), want(768);
      kernels().jpeg_rgb(y.data(), blue.data(), red.data(), 256, got.data());
      JpegRgbScalar(y.data(), blue.data(), red.data(), 256, want.data());
      ASSERT_EQ(got, want) << cb << " " << luma;
    }
  }
}

TEST_P(KernelsJpegTest, UpsamplingEqualsScalar) {
  for (size_t n = 1; n < 300; ++n) {
    const size_t narrow = (n + 1) / 2, size = 1 + narrow + 1 + 64;
    const auto y = Noise(n + 64);
    std::vector<uint8_t> rows[4];
    const uint8_t* chroma[4];
    for (int i = 0; i < 4; ++i) {
      rows[i] = Noise(size);
      rows[i][0] = rows[i][1];
      rows[i][narrow + 1] = rows[i][narrow];
      chroma[i] = rows[i].data() + 1;
    }
    test::Guarded got(std::vector<uint8_t>(3 * n));
    std::vector<uint8_t> want(3 * n);
    kernels().jpeg_rgb_h2v2(y.data(), chroma, chroma + 2, n, got.data());
    JpegRgbH2v2Scalar(y.data(), chroma, chroma + 2, n, want.data());
    ASSERT_TRUE(std::equal(want.begin(), want.end(), got.data())) << n;
    kernels().jpeg_rgb_h2v1(y.data(), chroma[0], chroma[1], n, got.data());
    JpegRgbH2v1Scalar(y.data(), chroma[0], chroma[1], n, want.data());
    ASSERT_TRUE(std::equal(want.begin(), want.end(), got.data())) << n;
    ASSERT_TRUE(got.Intact());
  }
}

MMCPP_INSTANTIATE_ISA_TEST(KernelsJpegTest);

}  // namespace
}  // namespace mmcpp::simd
