// driver/item.cc: what is refused before any stage, and what an item carries after all of them.
#include "driver/item.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "mmcpp/hash.h"
#include "mmcpp/registry.h"
#include "support/fake_family.h"
#include "support/pictures.h"
#include "support/png_builder.h"
#include "support/specs.h"

namespace mmcpp::driver {
namespace {

ProcessOptions Options() {
  ProcessOptions options;
  options.dtype = DType::kU8;
  return options;
}

Result<OutputItem> ProcessItem(const Family& family, const MediaSource& source,
                               const ProcessOptions& options) {
  return driver::ProcessItem(family, source, nullptr, options);
}

std::string Refusal(const std::vector<MediaSource>& media, const ProcessOptions& options,
                    ErrorCode code = ErrorCode::kInvalidArgument, int item = -1) {
  const Status status = CheckSources(media, options);
  if (status.ok()) return "";
  EXPECT_EQ(status.error().code, code) << status.error().message;
  EXPECT_EQ(status.error().item, item) << status.error().message;
  return status.error().message;
}

TEST(CheckSources, NeedsSources) {
  EXPECT_EQ(Refusal({}, Options()), "multimodal request without image sources");
}

TEST(CheckSources, Dtypes) {
  const test::Picture picture(2, 3);
  for (DType dtype : {DType::kF32, DType::kBf16, DType::kF16, DType::kU8}) {
    ProcessOptions options;
    options.dtype = dtype;
    EXPECT_EQ(Refusal({picture.view()}, options), "");
  }
  ProcessOptions options;
  options.dtype = DType::kI64;
  EXPECT_EQ(Refusal({picture.view()}, options),
            "dtype: expected float32, bfloat16, float16 or uint8, got int64");
}

TEST(CheckSources, Limits) {
  const test::Picture picture(2, 3);  // 18 bytes
  const std::vector<uint8_t> bytes(10);
  ProcessOptions options = Options();
  options.limits.max_items = 2;
  options.limits.max_total_bytes = 28;
  EXPECT_EQ(Refusal({picture.view(), Bytes(bytes)}, options), "");
  EXPECT_EQ(Refusal({Bytes(bytes), Bytes(bytes), Bytes(bytes)}, options, ErrorCode::kLimitExceeded),
            "multimodal request exceeds 2 media items");
  options.limits.max_total_bytes = 27;
  EXPECT_EQ(Refusal({picture.view(), Bytes(bytes)}, options, ErrorCode::kLimitExceeded),
            "multimodal request exceeds 27 total media bytes");
  options.limits.max_total_bytes = std::numeric_limits<size_t>::max();
  // Never read, so that only its length matters.
  const Bytes huge(bytes.data(), std::numeric_limits<size_t>::max() - 1);
  EXPECT_EQ(Refusal({huge, Bytes(bytes)}, options, ErrorCode::kLimitExceeded),
            "multimodal request exceeds 18446744073709551615 total media bytes");
}

TEST(CheckSources, Pixels) {
  const test::Picture picture(2, 3);
  const auto refusal = [&](const ImageView& view) {
    return Refusal({picture.view(), view}, Options(), ErrorCode::kInvalidArgument, 1);
  };
  const uint8_t* data = picture.pixels.data();
  EXPECT_EQ(refusal({nullptr, 2, 3, 9}), "image 1: pixels: null data");
  EXPECT_EQ(refusal({data, 0, 3, 9}), "image 1: pixels: sides must be positive, got 0x3");
  EXPECT_EQ(refusal({data, 2, -3, 9}), "image 1: pixels: sides must be positive, got 2x-3");
  EXPECT_EQ(refusal({data, 2, 3, 8}), "image 1: pixels: row_bytes 8 for 2 rows of 9 bytes");
  const size_t wrapping = (size_t{1} << 63) + 9;
  EXPECT_EQ(refusal({data, 2, 3, wrapping}),
            "image 1: pixels: row_bytes 9223372036854775817 for 2 rows of 9 bytes");
  EXPECT_EQ(refusal({data, 1, 3, wrapping}),
            "image 1: pixels: row_bytes 9223372036854775817 for 1 rows of 9 bytes");
  EXPECT_EQ(Refusal({Bytes(nullptr, 5)}, Options(), ErrorCode::kInvalidArgument, 0),
            "image 0: source: 5 bytes at a null pointer");
}

TEST(ProcessItem, CarriesWhatItLearned) {
  const test::Picture picture(4, 6);
  const std::vector<uint8_t> bmp = test::EncodeBmp(picture.view());
  const test::FakeFamily family;
  for (const bool encoded : {false, true}) {
    const MediaSource source = encoded ? MediaSource(Bytes(bmp)) : MediaSource(picture.view());
    const auto item = ProcessItem(family, source, Options());
    ASSERT_TRUE(item.ok()) << item.error().message;
    EXPECT_EQ(item->encoded, encoded);
    EXPECT_EQ(item->content_hash, encoded ? ContentHash(bmp) : PixelHash(picture.view()));
    EXPECT_EQ(item->info.height, 4);
    EXPECT_EQ(item->info.width, 6);
    EXPECT_EQ(item->info.mode, "RGB");
    EXPECT_TRUE(!encoded || item->info.format == ImageFormat::kBmp);
    EXPECT_EQ(item->plan.tokens, 4u);
    const auto feature = item->feature.As<uint8_t>();
    EXPECT_EQ(std::vector<uint8_t>(feature.begin(), feature.end()), picture.pixels);
  }
}

/// Its feature is the pixels with their alpha; of pictures that have none, too.
class KeepingFamily final : public test::FakeFamily {
 public:
  bool KeepsAlpha() const noexcept override { return true; }
  Status ProcessItem(const ImageView& image, const ItemPlan&, TensorView) const override {
    return Error{ErrorCode::kInternal, "channels " + std::to_string(image.channels) + ", alpha " +
                                           std::to_string(image.data[image.channels - 1])};
  }
};

TEST(ProcessItem, HandsAlphaToFamiliesThatKeepIt) {
  const auto png = [](uint8_t color, const test::ByteVector& row) {
    return test::PngFile(test::PngHeaderChunk(1, 1, 8, color), {}, row);
  };
  const test::ByteVector clear = png(6, {0, 1, 2, 3, 77}), opaque = png(2, {0, 1, 2, 3});
  ProcessOptions options = Options();
  options.decode.alpha = AlphaMode::kComposite;
  const auto said = [&](const MediaSource& source) {
    return ProcessItem(KeepingFamily(), source, options).error().message;
  };
  EXPECT_EQ(said(Bytes(clear)), "channels 4, alpha 77");
  EXPECT_EQ(said(Bytes(opaque)), "channels 3, alpha 3");
  const std::vector<uint8_t> pixels = {1, 2, 3, 77};
  const ImageView view = {pixels.data(), 1, 1, 4, 4};
  EXPECT_EQ(said(view), "channels 4, alpha 77");
  EXPECT_EQ(ProcessItem(test::FakeFamily(), view, options).error().message,
            "pixels: expected 3 channels, got 4");
  EXPECT_EQ(ProcessItem(test::FakeFamily(), Bytes(clear), options)->feature.shape(),
            (std::vector<int64_t>{1, 3}));
  options.decode.alpha = AlphaMode::kKeep;
  EXPECT_EQ(said(Bytes(clear)), "channels 4, alpha 77");
  EXPECT_EQ(ProcessItem(test::FakeFamily(), Bytes(clear), options).error().message,
            "decode: alpha to be kept, for a family that has no use of it");
  EXPECT_EQ(SourceBytes(view), 4u);
  EXPECT_EQ(
      Refusal({ImageView{pixels.data(), 1, 1, 3, 4}}, options, ErrorCode::kInvalidArgument, 0),
      "image 0: pixels: row_bytes 3 for 1 rows of 4 bytes");
  EXPECT_EQ(
      Refusal({ImageView{pixels.data(), 1, 2, 4, 2}}, options, ErrorCode::kInvalidArgument, 0),
      "image 0: pixels: expected 3 or 4 channels, got 2");
  options.limits.max_total_bytes = 7;
  EXPECT_EQ(Refusal({view, view}, options, ErrorCode::kLimitExceeded),
            "multimodal request exceeds 7 total media bytes");
}

TEST(ProcessItem, ReadsPaddedRows) {
  const test::Picture picture(4, 6);
  std::vector<uint8_t> padded;
  for (int y = 0; y < 4; ++y) {
    padded.insert(padded.end(), picture.view().row(y), picture.view().row(y) + 18);
    padded.insert(padded.end(), 5, 0xee);
  }
  const auto item = ProcessItem(test::FakeFamily(), ImageView{padded.data(), 4, 6, 23}, Options());
  ASSERT_TRUE(item.ok());
  EXPECT_EQ(item->content_hash, PixelHash(picture.view()));
  const auto feature = item->feature.As<uint8_t>();
  EXPECT_EQ(std::vector<uint8_t>(feature.begin(), feature.end()), picture.pixels);
}

TEST(ProcessItem, TellsDamageBeforeASizeThatIsRefused) {
  const test::FakeFamily family;
  const test::Picture picture(40, test::FakeFamily::kRefusedWidth);
  std::vector<uint8_t> png =
      test::PngFile(test::PngHeaderChunk(2, test::FakeFamily::kRefusedWidth, 8, 0), {},
                    test::ByteVector(2 * (1 + test::FakeFamily::kRefusedWidth)));
  EXPECT_EQ(ProcessItem(family, Bytes(png), Options()).error().message, "fake: unlucky width");
  // A filter that there is not is seen when the row is read.
  test::ByteVector rows(2 * (1 + test::FakeFamily::kRefusedWidth));
  rows[1 + test::FakeFamily::kRefusedWidth] = 9;
  png = test::PngFile(test::PngHeaderChunk(2, test::FakeFamily::kRefusedWidth, 8, 0), {}, rows);
  EXPECT_EQ(ProcessItem(family, Bytes(png), Options()).error().message,
            "png: row 1 of 2 has filter 9");
}

// A family that takes rows as they come gives what it gives of pixels.
TEST(ProcessItem, OfEncodedBytesIsThatOfTheirPixels) {
  const auto family = FamilyFromSpec(test::QwenVlSpec().dump());
  ASSERT_TRUE(family.ok());
  for (const auto& [height, width] : {std::pair{300, 500}, {500, 90}, {40, 30}}) {
    const test::Picture picture(height, width);
    const std::vector<uint8_t> bmp = test::EncodeBmp(picture.view());
    const auto pixels = ProcessItem(**family, picture.view(), Options());
    const auto encoded = ProcessItem(**family, Bytes(bmp), Options());
    ASSERT_TRUE(pixels.ok() && encoded.ok());
    ASSERT_EQ(encoded->feature.shape(), pixels->feature.shape());
    EXPECT_EQ(
        std::memcmp(encoded->feature.data(), pixels->feature.data(), pixels->feature.byte_count()),
        0);
    EXPECT_GE(encoded->times.decode_ms, 0);
    EXPECT_GE(encoded->times.process_ms, 0);
  }
}

TEST(ForItem, NamesTheItem) {
  const auto result = ForItem(3, []() -> Result<int> {
    return Error{ErrorCode::kCorruptInput, "png: bad", -1};
  });
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "image 3: png: bad");
  EXPECT_EQ(result.error().code, ErrorCode::kCorruptInput);
  EXPECT_EQ(result.error().item, 3);
  EXPECT_EQ(*ForItem(3, []() -> Result<int> { return 5; }), 5);
}

TEST(ForItem, TurnsMemoryFailureIntoAnError) {
  const auto result = ForItem(2, []() -> Result<int> { throw std::bad_alloc(); });
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "image 2: out of memory");
  EXPECT_EQ(result.error().code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(result.error().item, 2);
}

}  // namespace
}  // namespace mmcpp::driver
