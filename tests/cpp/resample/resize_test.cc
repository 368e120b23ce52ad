// Resize against digests of Pillow 13.0.0, Pillow 12.1.1, torch 2.13.0 and the reference crate, on
// every kernel table; and its errors.
#include "mmcpp/resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "mmcpp/hash.h"
#include "support/golden.h"
#include "support/isa_fixture.h"

namespace mmcpp {
namespace {

ImageView View(const std::vector<uint8_t>& pixels, int height, int width) {
  return {pixels.data(), height, width, static_cast<size_t>(width) * 3};
}

std::string ResizeDigest(int in_height, int in_width, int out_height, int out_width, Filter filter,
                         Convention convention) {
  const auto pixels = test::GoldenPixels(in_height, in_width);
  const auto out =
      Resize(View(pixels, in_height, in_width), out_height, out_width, filter, convention);
  if (!out.ok()) return out.error().message;
  return test::Hex(
      ContentHash(Bytes(out->data(), out->row_bytes() * static_cast<size_t>(out->height()))));
}

class ResizeTest : public test::IsaTest {
 protected:
  void CheckFile(const char* name, Convention convention) {
    kernels();
    const auto golden = test::GoldenFile(name);
    size_t compared = 0;
    for (const auto& item : golden["cases"]) {
      const auto& shape = item["shape"];
      for (const char* filter : {"box", "bilinear", "hamming", "bicubic", "lanczos"}) {
        if (!item.contains(filter)) continue;
        ++compared;
        EXPECT_EQ(ResizeDigest(shape[0], shape[1], shape[2], shape[3], *FilterFromName(filter),
                               convention),
                  item[filter])
            << shape << " " << filter;
      }
    }
    EXPECT_GE(compared, 500u);
  }
};

TEST_P(ResizeTest, EqualsPillow13) { CheckFile("pillow13.json", Convention::kPillow13); }
TEST_P(ResizeTest, EqualsPillow12) { CheckFile("pillow12.json", Convention::kPillow12); }
TEST_P(ResizeTest, EqualsTorch) { CheckFile("aten_u8.json", Convention::kAtenU8); }

TEST_P(ResizeTest, EqualsTheReferenceCrate) {
  kernels();
  for (const auto& item : test::ReferenceCrate()["cases"]) {
    if (item["op"] != "resize_rgb") continue;
    const bool aten = item["resample"] == "aten_u8";
    EXPECT_EQ(ResizeDigest(item["h"], item["w"], item["out_h"], item["out_w"],
                           aten ? Filter::kBicubic : Filter::kLanczos,
                           aten ? Convention::kAtenU8 : Convention::kPillow12),
              item["hash"])
        << item;
  }
}

TEST_P(ResizeTest, RowPaddingIsSkipped) {
  kernels();
  const auto pixels = test::GoldenPixels(30, 40);
  std::vector<uint8_t> padded(30 * 133, 0xee);
  for (size_t y = 0; y < 30; ++y)
    std::copy_n(pixels.data() + y * 120, 120, padded.data() + y * 133);
  for (const auto& [height, width] : {std::pair{17, 23}, {30, 40}, {30, 11}, {9, 40}, {5, 80}}) {
    const auto a = Resize(View(pixels, 30, 40), height, width, Filter::kLanczos);
    const auto b = Resize({padded.data(), 30, 40, 133}, height, width, Filter::kLanczos);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_TRUE(
        std::equal(a->data(), a->data() + a->row_bytes() * static_cast<size_t>(height), b->data()));
  }
}

MMCPP_INSTANTIATE_ISA_TEST(ResizeTest);

TEST(Resize, Errors) {
  const auto pixels = test::GoldenPixels(3, 4);
  const auto code = [&](const ImageView& image, int height, int width,
                        Filter filter = Filter::kBicubic,
                        Convention convention = Convention::kPillow13) {
    const auto result = Resize(image, height, width, filter, convention);
    EXPECT_FALSE(result.ok());
    return result.ok() ? ErrorCode::kInternal : result.error().code;
  };
  const ImageView image = View(pixels, 3, 4);
  const int most = std::numeric_limits<int>::max();
  EXPECT_EQ(code({}, 3, 4), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(View(pixels, 0, 4), 3, 4), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(image, 0, 4), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(image, 3, -4), ErrorCode::kInvalidArgument);
  for (const Filter filter : {Filter::kBox, Filter::kHamming}) {
    EXPECT_EQ(code(image, 5, 5, filter, Convention::kAtenU8), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code(image, 3, 4, filter, Convention::kAtenU8), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(code(image, 3, most), ErrorCode::kLimitExceeded);
  EXPECT_EQ(code(image, most, 4), ErrorCode::kLimitExceeded);
  EXPECT_EQ(code(image, most, most), ErrorCode::kLimitExceeded);
}

TEST(ResizeInto, FillsTheCallersRowsAndNothingElse) {
  const auto pixels = test::GoldenPixels(30, 40);
  const ImageView image = View(pixels, 30, 40);
  const auto want = Resize(image, 11, 50, Filter::kLanczos);
  ASSERT_TRUE(want.ok());
  std::vector<uint8_t> memory(11 * 160, 0xcd);
  const ImageSpan out = {memory.data(), 11, 50, 160};
  ASSERT_TRUE(ResizeInto(image, out, Filter::kLanczos).ok());
  for (int y = 0; y < 11; ++y) {
    EXPECT_TRUE(std::equal(out.row(y), out.row(y) + 150, want->row(y)));
    EXPECT_EQ(std::count(out.row(y) + 150, out.row(y) + 160, 0xcd), 10);
  }
  for (const ImageSpan& bad :
       {ImageSpan{nullptr, 11, 50, 160}, ImageSpan{memory.data(), 11, 50, 149},
        ImageSpan{memory.data(), 0, 50, 160}}) {
    EXPECT_EQ(ResizeInto(image, bad, Filter::kLanczos).error().code, ErrorCode::kInvalidArgument);
  }
  const ImageView inside = {memory.data() + 1700, 1, 5, 15};
  EXPECT_EQ(ResizeInto(inside, out, Filter::kLanczos).error().message,
            "resize: an output that overlaps the image");
}

TEST(Resize, NamesRoundTripAndUnknownOnesListTheKnown) {
  EXPECT_EQ(*FilterFromName("lanczos"), Filter::kLanczos);
  EXPECT_EQ(*ConventionFromName("pillow"), Convention::kPillow13);
  EXPECT_EQ(*ConventionFromName("pillow12"), Convention::kPillow12);
  EXPECT_EQ(*ConventionFromName("aten_u8"), Convention::kAtenU8);
  EXPECT_EQ(FilterFromName("cubic").error().message,
            "resize: unknown filter \"cubic\"; expected \"box\", \"bilinear\", \"hamming\", "
            "\"bicubic\", \"lanczos\"");
  EXPECT_EQ(ConventionFromName("").error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace mmcpp
