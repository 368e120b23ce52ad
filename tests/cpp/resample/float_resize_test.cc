// resample/float_resize.cc against torch's results (tests/golden/torch_float.json).
#include "resample/float_resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "mmcpp/hash.h"
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
}

}  // namespace
}  // namespace mmcpp::resample
