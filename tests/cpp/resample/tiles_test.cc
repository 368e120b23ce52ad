// Tiles put together are the resized picture, under every executor and kernel table.
#include "resample/tiles.h"

#include <gtest/gtest.h>

#include <cstring>
#include <mutex>
#include <vector>

#include "support/golden.h"
#include "support/isa_fixture.h"

namespace mmcpp::resample {
namespace {

class TilesTest : public test::IsaTest {
 protected:
  void Check(int in_height, int in_width, int out_height, int out_width, Convention convention,
             int unit) {
    const auto pixels = test::GoldenPixels(in_height, in_width);
    const ImageView image = {pixels.data(), in_height, in_width, static_cast<size_t>(in_width) * 3};
    const auto whole = Resize(image, out_height, out_width, Filter::kLanczos, convention);
    ASSERT_TRUE(whole.ok());
    auto joined = Image::Allocate(out_height, out_width);
    std::mutex mutex;
    std::vector<int> written(static_cast<size_t>(out_height) * static_cast<size_t>(out_width));
    const auto status = ResizeTiles(
        image, out_height, out_width, Filter::kLanczos, convention, unit, [&](const Tile& tile) {
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
    EXPECT_EQ(std::memcmp(joined->data(), whole->data(),
                          whole->row_bytes() * static_cast<size_t>(out_height)),
              0)
        << in_height << "x" << in_width << " -> " << out_height << "x" << out_width;
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
  }
  // More columns than fit a block: a window of 1200 rows leaves 140 columns to a block.
  Check(3000, 40, 10, 500, Convention::kPillow12, 28);
}

MMCPP_INSTANTIATE_ISA_TEST(TilesTest);

TEST(Tiles, ErrorsAreThoseOfResize) {
  const auto pixels = test::GoldenPixels(4, 4);
  const auto status = ResizeTiles({pixels.data(), 4, 4, 12}, 0, 4, Filter::kBicubic,
                                  Convention::kPillow13, 1, [](const Tile&) { FAIL(); });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace mmcpp::resample
