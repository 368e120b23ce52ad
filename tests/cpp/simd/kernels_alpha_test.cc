// Alpha to RGB, in every table, against Pillow's arithmetic.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "support/guarded.h"
#include "support/isa_fixture.h"

namespace mmcpp::simd {
namespace {

using test::Guarded;
using Bytes8 = std::vector<uint8_t>;

class AlphaTest : public test::IsaTest {
 protected:
  /// Blends, or with no background drops alpha, apart and in place.
  void Check(const Bytes8& rgba, const uint8_t* background) {
    const size_t n = rgba.size() / 4;
    Bytes8 expected;
    for (size_t i = 0; i < n; ++i) {
      for (size_t c = 0; c < 3; ++c) {
        const unsigned alpha = background == nullptr ? 255 : rgba[4 * i + 3];
        const unsigned under = background == nullptr ? 0 : background[c];
        // The nearest integer: a half never occurs.
        const unsigned sum = rgba[4 * i + c] * alpha + under * (255 - alpha);
        expected.push_back(static_cast<uint8_t>((sum * 2 + 255) / 510));
      }
    }
    const auto run = [&](const uint8_t* in, uint8_t* out) {
      if (background == nullptr) {
        kernels().drop_rgba8(in, n, out);
      } else {
        kernels().blend_rgba8(in, n, background, out);
      }
    };
    Guarded in(rgba), out(Bytes8(3 * n, 0xee)), both(rgba);
    run(in.data(), out.data());
    ASSERT_EQ(Bytes8(out.data(), out.data() + 3 * n), expected) << n;
    ASSERT_TRUE(out.Intact());
    run(both.data(), both.data());
    ASSERT_EQ(Bytes8(both.data(), both.data() + 3 * n), expected) << n << " in place";
  }
};

TEST_P(AlphaTest, EveryColorAndAlphaOnEveryKindOfBackground) {
  Bytes8 all;
  for (unsigned alpha = 0; alpha < 256; ++alpha) {
    for (unsigned color = 0; color < 256; ++color) {
      for (const unsigned v : {color, 255 - color, color ^ 85u, alpha}) {
        all.push_back(static_cast<uint8_t>(v));
      }
    }
  }
  for (const auto& background :
       {Bytes8{255, 255, 255}, Bytes8{0, 0, 0}, Bytes8{1, 127, 128}, Bytes8{254, 77, 200}}) {
    Check(all, background.data());
  }
  Check(all, nullptr);
}

TEST_P(AlphaTest, EveryLength) {
  std::mt19937 random(3);
  const uint8_t background[3] = {10, 200, 99};
  for (size_t n = 0; n < 70; ++n) {
    Bytes8 rgba(4 * n);
    for (uint8_t& byte : rgba) byte = static_cast<uint8_t>(random());
    Check(rgba, background);
    Check(rgba, nullptr);
  }
}

MMCPP_INSTANTIATE_ISA_TEST(AlphaTest);

}  // namespace
}  // namespace mmcpp::simd
