// SmartResize against transformers 5.24's function and the reference crate.
#include "transforms/size_rules.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "support/golden.h"

namespace mmcpp::transforms {
namespace {

constexpr int kIntMax = std::numeric_limits<int>::max();

TEST(SmartResize, EqualsTheReferenceCrate) {
  const auto& cases = test::ReferenceCrate()["smart_resize"];
  ASSERT_FALSE(cases.empty());
  for (const auto& item : cases) {
    const auto size = SmartResize(item["height"], item["width"], item["factor"], item["min_pixels"],
                                  item["max_pixels"], SmartResizeRule::kReference);
    ASSERT_EQ(size.ok(), !item["out"].is_null()) << item;
    if (!size.ok()) continue;
    EXPECT_EQ(size->height, item["out"][0]) << item;
    EXPECT_EQ(size->width, item["out"][1]) << item;
  }
}

TEST(SmartResize, EqualsTransformers) {
  const struct {
    int height, width, factor;
    uint64_t min_pixels, max_pixels;
    int out_height, out_width;
  } cases[] = {
      {1, 1, 28, 3136, 1003520, 56, 56},
      {1, 5, 28, 3136, 1003520, 28, 140},
      {5, 1, 28, 3136, 12845056, 140, 28},
      {1400, 700, 28, 3136, 1003520, 1400, 700},
      {10, 2000, 28, 3136, 3136, 28, 812},
      {2000, 10, 28, 3136, 12845056, 812, 28},
      {28, 5600, 28, 3136, 3136, 28, 784},
      {42, 70, 28, 1, 1073741824, 56, 56},
      {14, 14, 28, 1, 1073741824, 28, 28},
      {67108864, 67108864, 32, 65536, 16777216, 4096, 4096},
      {65535, 400, 28, 3136, 12845056, 45864, 280},
      {1, 200, 32, 65536, 16777216, 32, 3648},
      {999, 1001, 32, 65536, 1099511627776, 992, 992},
      {3000, 4000, 16, 16777216, 33554432, 3552, 4736},
  };
  for (const auto& c : cases) {
    const auto size = SmartResize(c.height, c.width, c.factor, c.min_pixels, c.max_pixels);
    ASSERT_TRUE(size.ok()) << c.height << "x" << c.width << ": " << size.error().message;
    EXPECT_EQ(size->height, c.out_height) << c.height << "x" << c.width;
    EXPECT_EQ(size->width, c.out_width) << c.height << "x" << c.width;
  }
}

// FNV-1a of the sides that so many sizes from a linear congruential generator get, refusals as 0x0.
uint64_t DigestOfSizes(int sizes, SmartResizeRule rule, int copies) {
  uint64_t state = 12345;
  const auto next = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
  };
  const auto up_to = [&next](unsigned bits) {
    const uint64_t value = next();
    return value % (uint64_t{1} << (1 + next() % bits));
  };
  const int factors[] = {14, 16, 28, 32, 48, 56};
  uint64_t digest = 0xcbf29ce484222325u;
  const auto add = [&digest](int side) {
    digest = (digest ^ static_cast<uint64_t>(side)) * 0x100000001b3u;
  };
  for (int i = 0; i < sizes; ++i) {
    const int height = static_cast<int>(1 + up_to(13));
    const int width = static_cast<int>(1 + up_to(13));
    const int factor = factors[next() % 6];
    const uint64_t min_pixels = 1 + up_to(20);
    const uint64_t max_pixels = min_pixels + up_to(24);
    const auto size = SmartResize(height, width, factor, min_pixels, max_pixels, rule, copies);
    add(size.ok() ? size->height : 0);
    add(size.ok() ? size->width : 0);
  }
  return digest;
}

// The digests were made with transformers 5.24.0.
TEST(SmartResize, EqualsTransformersOnManySizes) {
  EXPECT_EQ(DigestOfSizes(100000, SmartResizeRule::kTransformers, 1), 0x985f44cc553d75f5u);
  EXPECT_EQ(DigestOfSizes(20000, SmartResizeRule::kGlm, 2), 0xb756e076bdd93305u);
  EXPECT_EQ(DigestOfSizes(20000, SmartResizeRule::kPaddleOcr, 1), 0x37dd520db5457eb7u);
}

TEST(FitLongestEdge, EqualsTransformers) {
  const auto fit = [](int height, int width) {
    const Size size = *FitLongestEdge(height, width, 1024, 16);
    return std::make_pair(size.height, size.width);
  };
  EXPECT_EQ(fit(480, 640), std::make_pair(480, 640));
  EXPECT_EQ(fit(3000, 4000), std::make_pair(768, 1024));
  EXPECT_EQ(fit(1, 1), std::make_pair(16, 16));
  EXPECT_EQ(fit(2000, 1333), std::make_pair(1024, 688));  // 682
  EXPECT_FALSE(FitLongestEdge(1, 2000, 1024, 16).ok());
  EXPECT_FALSE(FitLongestEdge(0, 2000, 1024, 16).ok());
}

TEST(FitShortestEdge, EqualsTransformers) {
  const auto fit = [](int height, int width, int edge) {
    const Size size = *FitShortestEdge(height, width, edge);
    return std::make_pair(size.height, size.width);
  };
  EXPECT_EQ(fit(480, 640, 336), std::make_pair(336, 448));
  EXPECT_EQ(fit(640, 480, 336), std::make_pair(448, 336));
  EXPECT_EQ(fit(333, 77, 224), std::make_pair(968, 224));  // 968.7
  EXPECT_EQ(fit(5, 5, 224), std::make_pair(224, 224));
  EXPECT_EQ(FitShortestEdge(0, 5, 224).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(FitShortestEdge(1, 65535, 224).error().code, ErrorCode::kLimitExceeded);
}

TEST(ScaleLongestEdge, EqualsTheReferenceCrate) {
  const auto scale = [](int width, int height, double fraction, std::optional<int64_t> cap) {
    const auto size = ScaleLongestEdge(height, width, fraction, cap);
    EXPECT_TRUE(size.ok());
    return std::make_pair(size->width, size->height);
  };
  EXPECT_EQ(scale(7, 5, 1.5, std::nullopt), std::make_pair(11, 8));
  EXPECT_EQ(scale(3, 3, 0.5, std::nullopt), std::make_pair(2, 2));
  EXPECT_EQ(scale(100, 50, 4, 200), std::make_pair(200, 100));
  EXPECT_EQ(scale(100, 50, 2, 150), std::make_pair(150, 75));
  EXPECT_EQ(scale(100, 50, 2, -5), std::make_pair(100, 50));
  EXPECT_EQ(scale(100, 50, -2, std::nullopt), std::make_pair(1, 1));
  EXPECT_EQ(scale(100, 50, INFINITY, 200), std::make_pair(200, 100));
  EXPECT_EQ(ScaleLongestEdge(0, 5, 2, {}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ScaleLongestEdge(4, 5, INFINITY, {}).error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(ScaleLongestEdge(4, 5, NAN, {}).error().code, ErrorCode::kInvalidArgument);
}

TEST(SmartResize, ErrorTexts) {
  const auto message = [](int height, int width, uint64_t max_pixels, SmartResizeRule rule) {
    return SmartResize(height, width, 28, 3136, max_pixels, rule).error().message;
  };
  for (const auto rule : {SmartResizeRule::kTransformers, SmartResizeRule::kReference}) {
    EXPECT_EQ(message(0, 5, 3136, rule), "empty image");
    EXPECT_EQ(message(1, 1000, 3136, rule),
              "absolute aspect ratio must be smaller than 200, got 1000");
    EXPECT_EQ(message(2001, 10, 3136, rule),
              "absolute aspect ratio must be smaller than 200, got 200.1");
    EXPECT_EQ(message(1, kIntMax, 3136, rule),
              "absolute aspect ratio must be smaller than 200, got 2147483647");
  }
  EXPECT_EQ(message(10, 2000, 3136, SmartResizeRule::kReference),
            "smart_resize: 10x2000 degenerates to 0x784 at max_pixels=3136; image is too thin for "
            "this pixel budget");
  EXPECT_EQ(message(10, 20, 0, SmartResizeRule::kTransformers),
            "smart_resize: max_pixels must be positive");
}

TEST(SmartResize, HugeNumbersAreErrors) {
  const uint64_t most = std::numeric_limits<uint64_t>::max();
  const auto code = [](auto... args) { return SmartResize(args...).error().code; };
  EXPECT_EQ(code(kIntMax, kIntMax, 28, 0u, most), ErrorCode::kLimitExceeded);
  EXPECT_EQ(code(100, 100, 28, most, most), ErrorCode::kLimitExceeded);
  EXPECT_EQ(code(-1, 100, 28, 1u, most), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(100, 100, 0, 1u, most), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(100, 100, -28, 1u, most), ErrorCode::kInvalidArgument);
  // Rounds to 0x0 with no minimum to lift it.
  EXPECT_EQ(code(100, 100, kIntMax, 0u, most), ErrorCode::kInvalidArgument);
}

TEST(SmartResize, Lfm2LiftsBeforeAndAfterAndTakesAnyRatio) {
  const auto rule = SmartResizeRule::kLfm2;
  const auto values = [&](int height, int width) {
    const auto size = SmartResize(height, width, 32, 65536, 262144, rule);
    return size.ok() ? std::vector<int>{size->height, size->width} : std::vector<int>{};
  };
  EXPECT_EQ(values(480, 640), (std::vector<int>{416, 576}));
  EXPECT_EQ(values(1, 5), (std::vector<int>{128, 576}));
  EXPECT_EQ(values(3, 3000), (std::vector<int>{32, 3008}));
  EXPECT_EQ(values(1, 100000), (std::vector<int>{32, 161888}));
}

}  // namespace
}  // namespace mmcpp::transforms
