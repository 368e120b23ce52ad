// Tiles put together are the resized picture, under every executor and kernel table.
#include "resample/tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "base/row_source.h"
#include "support/golden.h"
#include "support/isa_fixture.h"
#include "support/pasted.h"
#include "support/rows.h"

namespace mmcpp::resample {
namespace {

class TilesTest : public test::IsaTest {
 protected:
  void Check(int in_height, int in_width, int out_height, int out_width, Convention convention,
             int unit) {
    Check(in_height, in_width, Canvas(out_height, out_width), convention, unit);
  }

  void Check(int in_height, int in_width, const Canvas& canvas, Convention convention, int unit) {
    const auto pixels = test::GoldenPixels(in_height, in_width);
    const ImageView image = {pixels.data(), in_height, in_width, static_cast<size_t>(in_width) * 3};
    const Image whole = test::Pasted(image, canvas, Filter::kLanczos, convention);
    CheckTiles(whole, unit, [&](TileFn fn) {
      return ResizeTiles(image, canvas, Filter::kLanczos, convention, unit, fn);
    });
    test::OneByOne rows(image);
    CheckTiles(whole, unit, [&](TileFn fn) {
      return ResizeTiles(&rows, canvas, Filter::kLanczos, convention, unit, fn);
    });
    EXPECT_EQ(rows.left(), 0);
  }

  template <class Run>
  void CheckTiles(const Image& whole, int unit, const Run& run) {
    const int out_height = whole.height(), out_width = whole.width();
    auto joined = Image::Allocate(out_height, out_width);
    std::mutex mutex;
    std::vector<int> written(static_cast<size_t>(out_height) * static_cast<size_t>(out_width));
    const Status status = run([&](const Tile& tile) {
      const std::lock_guard<std::mutex> lock(mutex);
      EXPECT_EQ(tile.y % unit, 0);
      EXPECT_EQ(tile.x % unit, 0);
      EXPECT_EQ(tile.height, std::min(unit, out_height - tile.y));
      EXPECT_TRUE(tile.width % unit == 0 || tile.x + tile.width == out_width);
      for (int i = 0; i < tile.height; ++i) {
        std::memcpy(joined->row(tile.y + i) + tile.x * 3,
                    tile.rows + static_cast<size_t>(i) * tile.row_bytes,
                    static_cast<size_t>(tile.width) * 3);
        for (int j = 0; j < tile.width; ++j) {
          ++written[static_cast<size_t>(tile.y + i) * static_cast<size_t>(out_width) +
                    static_cast<size_t>(tile.x + j)];
        }
      }
    });
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(std::count(written.begin(), written.end(), 1),
              static_cast<std::ptrdiff_t>(written.size()));
    EXPECT_EQ(std::memcmp(joined->data(), whole.data(),
                          whole.row_bytes() * static_cast<size_t>(out_height)),
              0)
        << out_height << "x" << out_width;
  }
};

TEST_P(TilesTest, AreTheResizedPicture) {
  kernels();
  for (const int unit : {1, 7, 28}) {
    Check(90, 120, 56, 84, Convention::kPillow13, unit);
    Check(90, 40, 31, 77, Convention::kPillow13, unit);
    Check(90, 40, 31, 77, Convention::kAtenU8, unit);
    Check(20, 30, 140, 112, Convention::kPillow13, unit);
    Check(50, 60, 50, 28, Convention::kPillow12, unit);
    Check(50, 60, 28, 60, Convention::kPillow13, unit);
    Check(56, 84, 56, 84, Convention::kPillow13, unit);
    Check(50, 61, 50, 61, Convention::kPillow13, unit);
    Check(90, 120, {70, 99, {6, 8, 56, 84}, {1, 2, 3}}, Convention::kPillow13, unit);
    Check(90, 40, {40, 77, {0, 0, 31, 50}, {1, 2, 3}}, Convention::kAtenU8, unit);
    Check(50, 61, {200, 300, {100, 200, 50, 61}, {1, 2, 3}}, Convention::kPillow13, unit);
    Check(1, 1, {60, 60, {59, 0, 1, 1}, {1, 2, 3}}, Convention::kPillow13, unit);
  }
  // More columns than fit a block: a window of 1200 rows leaves 140 columns to a block.
  Check(3000, 40, 10, 500, Convention::kPillow12, 28);
  Check(3000, 40, {30, 900, {13, 201, 10, 500}, {1, 2, 3}}, Convention::kPillow12, 28);
}

// Shapes at random: extreme ratios, one pass or two in either order, strips and windows of all
// sizes.
TEST_P(TilesTest, OfRowsAsTheyComeAreTheResizedPicture) {
  kernels();
  std::mt19937 random(5);
  const auto side = [&random](int most) {
    const double log = std::uniform_real_distribution<>(0, std::log(most))(random);
    return static_cast<int>(std::exp(log));
  };
  const Convention conventions[] = {Convention::kPillow13, Convention::kPillow12,
                                    Convention::kAtenU8};
  for (int round = 0; round < 60; ++round) {
    const int in_height = side(3000), in_width = side(60), out_width = side(400);
    const int out_height = round % 5 == 0 ? in_height : side(300);
    const Window at = {side(40) - 1, side(300) - 1, out_height, out_width};
    const Canvas canvas = {
        at.y + at.height + side(40) - 1, at.x + at.width + side(300) - 1, at, {1, 2, 3}};
    Check(in_height, round % 7 == 0 ? out_width : in_width,
          round % 2 == 0 ? canvas : Canvas(out_height, out_width), conventions[round % 3],
          side(40));
  }
  Check(4000, 3, 5, 20000, Convention::kPillow13, 4);  // a window longer than a strip
  Check(40, 20000, 11, 3, Convention::kAtenU8, 4);     // strips of the least height
}

MMCPP_INSTANTIATE_ISA_TEST(TilesTest);

TEST(Tiles, AnErrorOfReadingIsGivenOn) {
  const auto pixels = test::GoldenPixels(500, 900);
  for (const int readable : {0, 1, 100, 499}) {
    test::OneByOne rows({pixels.data(), 500, 900, 2700}, readable);
    const auto status = ResizeTiles(&rows, {20, 30}, Filter::kBicubic, Convention::kPillow13, 10,
                                    [](const Tile&) {});
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().message, "rows: end at " + std::to_string(readable));
  }
}

TEST(Tiles, OfRowsInMemoryAreTakenFromThere) {
  const auto pixels = test::GoldenPixels(40, 30);
  const ImageView image = {pixels.data(), 40, 30, 90};
  WholeRows rows(image);
  int tiles = 0;
  const auto status =
      ResizeTiles(&rows, {40, 30}, Filter::kBicubic, Convention::kPillow13, 40, [&](const Tile& t) {
        ++tiles;
        EXPECT_EQ(t.rows, pixels.data());
      });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(tiles, 1);
}

TEST(Tiles, RefusesWhatResizeRefusesAndWhatIsNotOnTheCanvas) {
  const auto pixels = test::GoldenPixels(4, 4);
  const ImageView image = {pixels.data(), 4, 4, 12};
  const auto message = [&](const Canvas& canvas) {
    test::OneByOne rows(image);
    const auto refused = [&](const Status& status) {
      EXPECT_FALSE(status.ok());
      EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
      return status.error().message;
    };
    const auto none = [](const Tile&) { FAIL(); };
    const std::string of_rows =
        refused(ResizeTiles(&rows, canvas, Filter::kBicubic, Convention::kPillow13, 1, none));
    EXPECT_EQ(rows.left(), 4);
    const std::string of_image =
        refused(ResizeTiles(image, canvas, Filter::kBicubic, Convention::kPillow13, 1, none));
    EXPECT_EQ(of_image, of_rows);
    return of_image;
  };
  EXPECT_EQ(message({0, 4}), "resize: output size must be positive, got 0x4");
  EXPECT_EQ(ResizeTiles({pixels.data(), 3, 4, 16, 4}, {2, 2}, Filter::kBicubic,
                        Convention::kPillow13, 1, [](const Tile&) {})
                .error()
                .message,
            "resize: expected 3 channels, got 4");
  EXPECT_EQ(message({8, 8, {0, 0, 4, 9}}), "canvas: no picture of 4x9 at 0,0 fits on 8x8");
  EXPECT_EQ(message({8, 8, {5, 0, 4, 4}}), "canvas: no picture of 4x4 at 5,0 fits on 8x8");
  EXPECT_EQ(message({8, 8, {0, -1, 4, 4}}), "canvas: no picture of 4x4 at 0,-1 fits on 8x8");
}

}  // namespace
}  // namespace mmcpp::resample
