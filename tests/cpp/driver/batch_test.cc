// driver/batch.cc: packed features are the items' features in a row, and failures are those of the
// unpacked way.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "mmcpp/driver.h"
#include "mmcpp/registry.h"
#include "support/fake_family.h"
#include "support/pictures.h"
#include "support/schedules.h"
#include "support/specs.h"

namespace mmcpp {
namespace {

using test::FakeFamily;
using test::Picture;
using Media = std::vector<MediaSource>;

ProcessOptions Options(DType dtype = DType::kU8) {
  ProcessOptions options;
  options.dtype = dtype;
  return options;
}

TEST(ProcessItems, PacksFeaturesInOrder) {
  const auto family = FamilyFromSpec(test::QwenVlSpec().dump());
  ASSERT_TRUE(family.ok());
  const Picture a(100, 76), b(480, 640, 1), c(33, 900, 2);
  const std::vector<uint8_t> bmp = test::EncodeBmp(b.view());
  const Media media = {a.view(), Bytes(bmp), c.view()};
  const std::vector<int64_t> ids(3, 9);
  for (DType dtype : {DType::kF32, DType::kBf16, DType::kF16, DType::kU8}) {
    test::ForEachSchedule(6, [&] {
      const auto batch = ProcessItems(**family, media, Options(dtype));
      ASSERT_TRUE(batch.ok()) << batch.error().message;
      const auto response = Process(**family, {ids, media, Options(dtype)});
      ASSERT_TRUE(response.ok());
      ASSERT_EQ(batch->items.size(), 3u);
      EXPECT_EQ(batch->features.dtype(), dtype);
      size_t at = 0;
      int64_t rows = 0;
      for (size_t i = 0; i < 3; ++i) {
        const OutputItem& alone = response->items[i];
        const OutputItem& packed = batch->items[i];
        EXPECT_EQ(packed.content_hash, alone.content_hash);
        EXPECT_EQ(packed.plan.feature_shape, alone.plan.feature_shape);
        EXPECT_EQ(packed.feature.byte_count(), 0u);
        ASSERT_LE(at + alone.feature.byte_count(), batch->features.byte_count());
        EXPECT_EQ(std::memcmp(batch->features.data() + at, alone.feature.data(),
                              alone.feature.byte_count()),
                  0);
        at += alone.feature.byte_count();
        rows += alone.plan.feature_shape[0];
      }
      EXPECT_EQ(at, batch->features.byte_count());
      EXPECT_EQ(batch->features.shape(), (std::vector<int64_t>{rows, 1176}));
    });
  }
}

TEST(ProcessItemsInto, FillsTheCallersMemory) {
  const auto family = FamilyFromSpec(test::QwenVlSpec().dump());
  ASSERT_TRUE(family.ok());
  const Picture a(100, 76), b(480, 640, 1);
  const std::vector<uint8_t> bmp = test::EncodeBmp(b.view());
  const Media media = {a.view(), Bytes(bmp)};
  for (DType dtype : {DType::kF32, DType::kBf16, DType::kU8}) {
    const auto want = ProcessItems(**family, media, Options(dtype));
    ASSERT_TRUE(want.ok());
    const auto& shape = want->features.shape();
    std::vector<float> memory(want->features.byte_count() / sizeof(float) + 2);
    auto* data = reinterpret_cast<uint8_t*>(memory.data() + 1);  // nothing beyond an element's
    const auto items =
        ProcessItemsInto(**family, media, Options(DType::kI64), {data, dtype, shape});
    ASSERT_TRUE(items.ok()) << items.error().message;
    EXPECT_EQ(items->size(), 2u);
    EXPECT_EQ(std::memcmp(data, want->features.data(), want->features.byte_count()), 0);
    EXPECT_EQ(memory.front(), 0);
    EXPECT_EQ(memory.back(), 0);

    const auto refusal = [&](const TensorView& out) {
      const auto refused = ProcessItemsInto(**family, media, Options(), out);
      EXPECT_FALSE(refused.ok());
      EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
      return refused.error().message;
    };
    const std::vector<int64_t> more = {shape[0] + 1, shape[1]}, flat = {shape[0] * shape[1]};
    EXPECT_EQ(refusal({data, dtype, more}), "output: of shape [" + std::to_string(shape[0] + 1) +
                                                ", 1176] for features of " + "shape [" +
                                                std::to_string(shape[0]) + ", 1176]");
    EXPECT_NE(refusal({data, dtype, flat}), "");
    EXPECT_NE(refusal({nullptr, dtype, shape}), "");
    if (dtype != DType::kU8) {
      EXPECT_NE(refusal({data + 1, dtype, shape}), "");
    }
    EXPECT_EQ(refusal({data, DType::kI64, shape}),
              "dtype: expected float32, bfloat16, float16 or uint8, got int64");
  }
  const std::vector<uint8_t> text = {'h', 'e', 'l', 'l', 'o'};
  const auto bad = ProcessItemsInto(**family, Media{Bytes(text)}, Options(), {});
  EXPECT_EQ(bad.error().item, 0) << "damage is told before an output that does not fit";
}

TEST(ProcessItems, PlansTurnedPictures) {
  // 24 x 16 as stored, orientation 6.
  std::ifstream file(MMCPP_GOLDEN_DIR "/orientation6.jpg", std::ios::binary);
  const std::vector<uint8_t> jpeg{std::istreambuf_iterator<char>(file), {}};
  const Media media = {Bytes(jpeg)};
  ProcessOptions options = Options();
  const auto stored = ProcessItems(FakeFamily(), media, options);
  ASSERT_TRUE(stored.ok()) << stored.error().message;
  EXPECT_EQ(stored->items[0].plan.resized_height, 24);
  options.decode.apply_orientation = true;
  const auto turned = ProcessItems(FakeFamily(), media, options);
  ASSERT_TRUE(turned.ok()) << turned.error().message;
  EXPECT_EQ(turned->items[0].plan.resized_height, 16);
  EXPECT_EQ(turned->items[0].plan.resized_width, 24);
  EXPECT_EQ(turned->items[0].info.height, 24) << "as stored";
}

// Both ways must fail alike.
void ExpectError(const Media& media, const ProcessOptions& options, ErrorCode code, int item,
                 const std::string& message) {
  test::ForEachSchedule(12, [&] {
    const auto batch = ProcessItems(FakeFamily(), media, options);
    ASSERT_FALSE(batch.ok()) << message;
    EXPECT_EQ(batch.error().message, message);
    EXPECT_EQ(batch.error().code, code) << message;
    EXPECT_EQ(batch.error().item, item) << message;
    const std::vector<int64_t> ids(media.size() + 1, FakeFamily::kPlaceholder);
    const auto response = Process(FakeFamily(), {ids, media, options});
    ASSERT_FALSE(response.ok());
    EXPECT_EQ(response.error().message, message);
    EXPECT_EQ(response.error().item, item);
  });
}

TEST(ProcessItems, ChecksSourcesFirst) {
  ExpectError({}, Options(), ErrorCode::kInvalidArgument, -1,
              "multimodal request without image sources");
}

TEST(ProcessItems, LowestFailingItemWins) {
  const Picture good(2, 2), broken(2, FakeFamily::kBrokenWidth);
  const Picture refused(2, FakeFamily::kRefusedWidth), hog(2, FakeFamily::kMemoryHogWidth);
  const std::vector<uint8_t> text = {'h', 'e', 'l', 'l', 'o'};
  // Planning fails at item 3 and pixels before it.
  ExpectError({good.view(), broken.view(), good.view(), refused.view(), Bytes(text)}, Options(),
              ErrorCode::kInternal, 1, "image 1: fake: broken");
  ExpectError({good.view(), refused.view(), broken.view()}, Options(), ErrorCode::kInvalidArgument,
              1, "image 1: fake: unlucky width");
  ExpectError({good.view(), hog.view(), broken.view()}, Options(), ErrorCode::kOutOfMemory, 1,
              "image 1: out of memory");
}

TEST(ProcessItems, AHeaderThatHoldsAndPixelsThatDoNot) {
  const Picture picture(40, 40);
  std::vector<uint8_t> cut = test::EncodeBmp(picture.view());
  cut.resize(cut.size() / 2);
  const std::vector<uint8_t> text = {'h', 'e', 'l', 'l', 'o'};
  const Media media = {picture.view(), Bytes(cut), Bytes(text)};
  const auto batch = ProcessItems(FakeFamily(), media, Options());
  ASSERT_FALSE(batch.ok());
  EXPECT_EQ(batch.error().item, 1) << batch.error().message;
  EXPECT_EQ(batch.error().code, ErrorCode::kCorruptInput);
}

TEST(ProcessItems, LimitsAreTheDecodersWords) {
  const Picture picture(40, 50);
  const std::vector<uint8_t> bmp = test::EncodeBmp(picture.view());
  ProcessOptions options = Options();
  options.decode.limits.max_pixels = 1999;
  ExpectError({Bytes(bmp)}, options, ErrorCode::kLimitExceeded, 0,
              "image 0: bmp: 40x50 is 2000 pixels, over the limit of 1999");
}

/// A family whose features do not fit together.
class UnevenFamily : public FakeFamily {
 public:
  Result<ItemPlan> PlanItem(int height, int width) const override {
    auto plan = FakeFamily::PlanItem(height, width);
    if (plan.ok()) plan->feature_shape = {height, width, 3};
    return plan;
  }
  Status ProcessItem(const ImageView&, const ItemPlan&, TensorView) const override { return Ok{}; }
};

TEST(ProcessItems, ShapesMustFitTogether) {
  const Picture a(2, 5), b(3, 5), c(3, 6);
  const auto even = ProcessItems(UnevenFamily(), Media{a.view(), b.view()}, Options());
  ASSERT_TRUE(even.ok());
  EXPECT_EQ(even->features.shape(), (std::vector<int64_t>{5, 5, 3}));
  const auto uneven = ProcessItems(UnevenFamily(), Media{a.view(), b.view(), c.view()}, Options());
  ASSERT_FALSE(uneven.ok());
  EXPECT_EQ(uneven.error().message, "image 2: features of different shapes cannot be packed");
  EXPECT_EQ(uneven.error().item, 2);
}

TEST(ProcessItems, PadsFeaturesThatMayDiffer) {
  const auto family = FamilyFromSpec(
      R"({"family": "pixtral", "image_token_id": 5, "longest_edge": 64, "patch_size": 8,
          "image_mean": [0, 0, 0], "image_std": [1, 1, 1]})");
  ASSERT_TRUE(family.ok()) << family.error().message;
  const Picture tall(24, 8), wide(16, 32, 1);
  const Media media = {tall.view(), wide.view()};
  test::ForEachSchedule(4, [&] {
    const auto batch = ProcessItems(**family, media, Options());
    ASSERT_TRUE(batch.ok()) << batch.error().message;
    ASSERT_EQ(batch->features.shape(), (std::vector<int64_t>{2, 3, 24, 32}));
    for (int i = 0; i < 2 * 3 * 24 * 32; ++i) {
      const Picture& picture = i < 3 * 24 * 32 ? tall : wide;
      const int channel = i / (24 * 32) % 3, y = i / 32 % 24, x = i % 32;
      const bool inside = y < picture.height && x < picture.width;
      ASSERT_EQ(batch->features.data()[i], inside ? picture.view().row(y)[x * 3 + channel] : 0);
    }
  });
}

}  // namespace
}  // namespace mmcpp
