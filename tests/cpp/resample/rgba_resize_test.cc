// resample/rgba_resize.cc: against the definition, pixel by pixel; against Pillow itself in
// tests/python/test_kimi_k3.py.
#include "resample/rgba_resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/ensure.h"
#include "base/row_source.h"
#include "support/pictures.h"

namespace mmcpp::resample {
namespace {

/// A third of it clear, a third opaque; rows are padded.
struct Rgba {
  int height, width;
  std::vector<uint8_t> pixels;

  Rgba(int h, int w) : height(h), width(w), pixels(static_cast<size_t>(h * (4 * w + 5))) {
    const auto noise = test::GoldenPixels(h, w);
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x) {
        uint8_t* pixel = pixels.data() + y * (4 * w + 5) + 4 * x;
        std::copy_n(noise.data() + 3 * (y * w + x), 3, pixel);
        pixel[3] = x % 3 == 0 ? 0 : x % 3 == 1 ? 255 : static_cast<uint8_t>(7 * y + x);
      }
    }
  }
  ImageView view() const {
    return {pixels.data(), height, width, static_cast<size_t>(4 * width + 5), 4};
  }
};

Result<Image> Resized(RowSource* rows, int height, int width, Filter filter,
                      Convention convention) {
  MMCPP_ASSIGN(const auto resized, ResizeRgba(rows, height, width, filter, convention));
  return ReadAll(resized.get());
}

Result<Image> ResizeView(const ImageView& image, int height, int width, Filter filter,
                         Convention convention) {
  WholeRows rows(image);
  return Resized(&rows, height, width, filter, convention);
}

/// The plane of one channel of four, multiplied by alpha if that is a colour, three times over.
std::vector<uint8_t> Plane(const ImageView& rgba, int channel) {
  std::vector<uint8_t> plane;
  for (int y = 0; y < rgba.height; ++y) {
    for (int x = 0; x < rgba.width; ++x) {
      const uint8_t* pixel = rgba.row(y) + 4 * x;
      const int t = pixel[channel] * pixel[3] + 128;
      const auto value = static_cast<uint8_t>(channel == 3 ? pixel[3] : ((t >> 8) + t) >> 8);
      plane.insert(plane.end(), 3, value);
    }
  }
  return plane;
}

TEST(ResizeRgba, MultipliesByAlphaBeforeAndDividesAfterwards) {
  const Rgba picture(21, 34);
  for (const auto convention : {Convention::kPillow13, Convention::kPillow12}) {
    for (const auto& [height, width] : {std::pair{9, 50}, {40, 11}, {21, 12}, {1, 1}}) {
      const auto out = ResizeView(picture.view(), height, width, Filter::kBicubic, convention);
      ASSERT_TRUE(out.ok());
      ASSERT_EQ(out->channels(), 4);
      std::vector<Image> planes;
      for (int channel = 0; channel < 4; ++channel) {
        const auto plane = Plane(picture.view(), channel);
        planes.push_back(
            Resize({plane.data(), 21, 34, 34 * 3}, height, width, Filter::kBicubic, convention)
                .value());
      }
      for (int i = 0; i < height * width; ++i) {
        const int alpha = planes[3].data()[3 * i];
        ASSERT_EQ(out->data()[4 * i + 3], alpha);
        for (size_t c = 0; c < 3; ++c) {
          const int color = planes[c].data()[3 * i];
          const int want = alpha == 0 || alpha == 255 ? color : std::min(255, 255 * color / alpha);
          ASSERT_EQ(out->data()[4 * i + static_cast<int>(c)], want) << i << " of alpha " << alpha;
        }
      }
    }
  }
}

TEST(ResizeRgba, TheSameSizeIsThePictureItself) {
  const Rgba picture(5, 7);
  const auto out =
      ResizeView(picture.view(), 5, 7, Filter::kBicubic, Convention::kPillow13).value();
  for (int y = 0; y < 5; ++y) EXPECT_EQ(std::memcmp(out.row(y), picture.view().row(y), 28), 0);
}

/// A picture in memory, or one that must be read, that is wanted so many times.
class WantedRows : public RowSource {
 public:
  WantedRows(const ImageView& view, bool in_memory, int wanted)
      : RowSource(view.height, view.width, 4),
        rows_(view),
        in_memory_(in_memory),
        wanted_(wanted) {}

  const ImageView* whole() const noexcept override { return in_memory_ ? rows_.whole() : nullptr; }
  Status Read(int rows, uint8_t* dst, size_t row_bytes) override {
    return rows_.Read(rows, dst, row_bytes);
  }
  Status StillWanted() const override {
    if (++asked < wanted_) return Ok{};
    return Error{ErrorCode::kCancelled, "enough"};
  }
  mutable int asked = 0;

 private:
  WholeRows rows_;
  bool in_memory_;
  int wanted_;
};

TEST(ResizeRgba, EndsBetweenStripsOfEitherResize) {
  const Rgba picture(1300, 700);  // 2.7 MB of three channels; a strip is of 256 KiB
  const auto whole =
      ResizeView(picture.view(), 37, 90, Filter::kBicubic, Convention::kPillow13).value();
  for (const bool in_memory : {true, false}) {
    const auto resize = [&](WantedRows* rows) {
      return Resized(rows, 37, 90, Filter::kBicubic, Convention::kPillow13);
    };
    WantedRows all(picture.view(), in_memory, 1000);
    const auto same = resize(&all);
    ASSERT_TRUE(same.ok());
    EXPECT_EQ(std::memcmp(same->data(), whole.data(), size_t{37} * 90 * 4), 0);
    EXPECT_GE(all.asked, 20);
    for (const int wanted : {1, 2, all.asked / 2, all.asked}) {
      WantedRows rows(picture.view(), in_memory, wanted);
      EXPECT_EQ(resize(&rows).error().message, "enough");
      EXPECT_EQ(rows.asked, wanted);
    }
  }
}

TEST(ResizeRgba, Refusals) {
  const test::Picture picture(5, 7);
  EXPECT_EQ(
      ResizeView(picture.view(), 5, 7, Filter::kBicubic, Convention::kPillow13).error().message,
      "resize: expected 4 channels, got 3");
  const Rgba rgba(5, 7);
  EXPECT_FALSE(ResizeView(rgba.view(), 0, 7, Filter::kBicubic, Convention::kPillow13).ok());
  EXPECT_EQ(Resize(rgba.view(), 2, 2, Filter::kBicubic).error().message,
            "resize: expected 3 channels, got 4");
  std::vector<uint8_t> memory(3);
  EXPECT_FALSE(ResizeInto(rgba.view(), {memory.data(), 1, 1, 3}, Filter::kBicubic).ok());
}

}  // namespace
}  // namespace mmcpp::resample
