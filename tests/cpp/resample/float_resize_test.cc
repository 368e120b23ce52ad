// resample/float_resize.cc against torch's results (tests/golden/torch_float.json).
#include "resample/float_resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "mmcpp/hash.h"
#include "support/pasted.h"
#include "support/pictures.h"
#include "support/schedules.h"

namespace mmcpp::resample {
namespace {

ByteValues Values() {
  ByteValues values;
  for (auto& channel : values) {
    for (size_t i = 0; i < channel.size(); ++i) channel[i] = static_cast<float>(i);
  }
  return values;
}

std::vector<float> Resized(const ImageView& image, int height, int width, FloatFilter filter) {
  const auto n = static_cast<size_t>(height) * static_cast<size_t>(width);
  std::vector<float> out(3 * n, NAN);
  const Status status =
      ResizeFloatRows(image, height, width, filter, Values(), [&](int y, float* const planes[3]) {
        for (size_t c = 0; c < 3; ++c) {
          std::copy_n(
              planes[c], width,
              out.begin() + static_cast<std::ptrdiff_t>(c * n + static_cast<size_t>(y) *
                                                                    static_cast<size_t>(width)));
        }
      });
  EXPECT_TRUE(status.ok()) << status.error().message;
  return out;
}

TEST(FloatResize, EqualsTorch) {
  size_t cases = 0;
  const nlohmann::json file = test::GoldenFile("torch_float.json");
  for (const auto& golden : file.at("resizes")) {
    const test::Picture picture(golden.at("height"), golden.at("width"));
    const auto filter = golden.at("filter") == "bicubic" ? FloatFilter::kBicubic
                        : golden.at("threads") == 1      ? FloatFilter::kBilinear
                                                         : FloatFilter::kBilinearThreads;
    test::ForEachSchedule(3, [&] {
      const std::vector<float> out =
          Resized(picture.view(), golden.at("out_height"), golden.at("out_width"), filter);
      EXPECT_EQ(test::Hex(ContentHash(
                    {reinterpret_cast<const uint8_t*>(out.data()), out.size() * sizeof(float)})),
                golden.at("hash").get<std::string>())
          << golden.dump();
    });
    ++cases;
  }
  EXPECT_EQ(cases, 24u);
}

TEST(FloatResize, TheSameSizeGivesTheBytes) {
  const test::Picture picture(9, 14);
  for (const auto filter :
       {FloatFilter::kBilinear, FloatFilter::kBilinearThreads, FloatFilter::kBicubic}) {
    const std::vector<float> out = Resized(picture.view(), 9, 14, filter);
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(out[i], picture.pixels[i % (9 * 14) * 3 + i / (9 * 14)]);
    }
  }
}

// A picture resized onto a canvas and that resized in turn, in one pass, against the two steps.
TEST(FloatResize, OfACanvasAsItIsMade) {
  const struct {
    int in_height, in_width;
    Canvas canvas;
    int out_height, out_width;
  } cases[] = {
      {100, 130, {84, 140, {0, 0, 84, 109}, {255, 255, 255}}, 28, 28},  // three rows a row
      {100, 130, {56, 300, {3, 20, 40, 251}, {1, 2, 3}}, 28, 28},
      {30, 20, {28, 84, {0, 0, 28, 19}, {1, 2, 3}}, 28, 28},     // as many rows
      {300, 20, {448, 56, {0, 0, 448, 30}, {1, 2, 3}}, 28, 28},  // more than are read of it
      {300, 20, {500, 9, {401, 0, 99, 7}, {1, 2, 3}}, 333, 28},
      {9, 9, {5, 7}, 400, 30},  // fewer
      {1, 1, {1, 1}, 1, 1},
      {200, 300, {200, 300}, 70, 50},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.canvas.height);
    const test::Picture picture(c.in_height, c.in_width);
    const Image pasted =
        test::Pasted(picture.view(), c.canvas, Filter::kBilinear, Convention::kAtenU8);
    const std::vector<float> expected =
        Resized(pasted, c.out_height, c.out_width, FloatFilter::kBicubic);
    test::ForEachSchedule(5, [&] {
      auto tiles = Image::Allocate(c.canvas.height, c.canvas.width);
      std::vector<int> given(static_cast<size_t>(c.canvas.height));
      std::mutex mutex;
      const auto n = static_cast<size_t>(c.out_height) * static_cast<size_t>(c.out_width);
      std::vector<float> out(3 * n, NAN);
      const Status status = ResizeTilesAndFloatRows(
          {picture.view(), c.canvas, Filter::kBilinear, Convention::kAtenU8},
          [&](const Tile& tile) {
            const std::lock_guard<std::mutex> lock(mutex);
            EXPECT_EQ(tile.x, 0);
            EXPECT_EQ(tile.width, c.canvas.width);
            for (int i = 0; i < tile.height; ++i) {
              ++given[static_cast<size_t>(tile.y + i)];
              std::memcpy(tiles->row(tile.y + i),
                          tile.rows + static_cast<size_t>(i) * tile.row_bytes, tiles->row_bytes());
            }
          },
          c.out_height, c.out_width, Values(),
          [&](int y, float* const planes[3]) {
            const auto at = static_cast<size_t>(y) * static_cast<size_t>(c.out_width);
            for (size_t k = 0; k < 3; ++k) {
              std::copy_n(planes[k], c.out_width, out.data() + k * n + at);
            }
          });
      ASSERT_TRUE(status.ok()) << status.error().message;
      EXPECT_EQ(given, std::vector<int>(given.size(), 1));
      EXPECT_EQ(std::memcmp(tiles->data(), pasted.data(),
                            pasted.row_bytes() * static_cast<size_t>(pasted.height())),
                0);
      EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)), 0);
    });
  }
}

TEST(FloatResize, RefusesWhatIsEmpty) {
  const test::Picture picture(2, 3);
  const auto code = [&](const ImageView& image, int height) {
    return ResizeFloatRows(image, height, 5, FloatFilter::kBicubic, Values(),
                           [](int, float* const*) {})
        .error()
        .code;
  };
  EXPECT_EQ(code(picture.view(), 0), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({picture.pixels.data(), 0, 3, 9}, 4), ErrorCode::kInvalidArgument);
  const auto message = [&](const Canvas& canvas, int height) {
    return ResizeTilesAndFloatRows(
               {picture.view(), canvas, Filter::kBilinear, Convention::kAtenU8}, [](const Tile&) {},
               height, 5, Values(), [](int, float* const*) {})
        .error()
        .message;
  };
  EXPECT_EQ(message({4, 4}, 0), "resize: 4x4 to 0x5: sides must be positive");
  EXPECT_EQ(message({4, 4, {1, 0, 4, 4}}, 5), "canvas: no picture of 4x4 at 1,0 fits on 4x4");
}

}  // namespace
}  // namespace mmcpp::resample
