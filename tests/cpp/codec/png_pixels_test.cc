#include "codec/png_pixels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "support/png_builder.h"

namespace mmcpp::codec {
namespace {

using test::ByteVector;

struct Layout {
  PngColor color;
  int depth;
  bool interlaced;
};
constexpr Layout kLayouts[] = {
    {PngColor::kRgb, 8, false},  {PngColor::kRgb, 8, true},        {PngColor::kGray, 1, false},
    {PngColor::kGray, 8, false}, {PngColor::kGrayAlpha, 8, false}, {PngColor::kRgba, 8, false},
    {PngColor::kRgb, 16, false}, {PngColor::kPalette, 4, true},    {PngColor::kRgba, 16, true},
};

PngHeader Header(const Layout& layout, uint32_t height, uint32_t width) {
  static const ByteVector colors(256 * 3, 77);
  PngHeader header;
  header.height = height;
  header.width = width;
  header.color = layout.color;
  header.depth = layout.depth;
  header.interlaced = layout.interlaced;
  if (layout.color == PngColor::kPalette) header.palette = Bytes(colors);
  return header;
}

/// Rows of any filter with any bytes.
ByteVector Stream(const std::vector<PngPass>& passes) {
  std::mt19937 random(5);
  ByteVector stream;
  for (const PngPass& pass : passes) {
    for (size_t y = 0; y < pass.height; ++y) {
      stream.push_back(static_cast<uint8_t>(random() % 5));
      for (size_t i = 0; i < pass.row_bytes; ++i) stream.push_back(static_cast<uint8_t>(random()));
    }
  }
  return stream;
}

TEST(PngMemory, IsSharedWhereRowsComeInOrderAndLittleIsWasted) {
  const auto shared = [](const Layout& layout, bool may_share = true) {
    const PngHeader header = Header(layout, 100, 100);
    const auto memory = PngMemory::Allocate(header, PngPasses(header), 3, may_share);
    EXPECT_TRUE(memory.ok());
    EXPECT_EQ(memory->stream + memory->stream_size, memory->buffer.data() + memory->buffer.size());
    return memory->shared;
  };
  EXPECT_TRUE(shared({PngColor::kRgb, 8, false}));
  EXPECT_FALSE(shared({PngColor::kRgb, 8, false}, false));
  EXPECT_TRUE(shared({PngColor::kGray, 1, false}));
  EXPECT_TRUE(shared({PngColor::kRgba, 8, false}));
  EXPECT_FALSE(shared({PngColor::kRgba, 16, false}));
  EXPECT_FALSE(shared({PngColor::kRgb, 8, true}));
}

class PngPixelWriterTest : public ::testing::Test {
 protected:
  /// The picture, written whenever `step` more bytes of the stream are there, or at once for 0.
  static ByteVector Write(const PngHeader& header, size_t step, bool in_shared_memory) {
    const std::vector<PngPass> passes = PngPasses(header);
    const ByteVector stream = Stream(passes);
    PngMemory memory = PngMemory::Allocate(header, passes, 3, in_shared_memory).value();
    EXPECT_EQ(memory.stream_size, stream.size());
    const size_t size = size_t{header.height} * header.width * 3;
    ByteVector apart(size, 0x11);
    uint8_t* pixels = memory.shared ? memory.buffer.data() : apart.data();
    PngRows rows = PngRows::Create(header, {}).value();
    PngPixelWriter writer(header, passes, memory.stream, simd::ActiveKernels().value(), &rows,
                          pixels);
    for (size_t done = 0; done < stream.size();) {
      const size_t next = step == 0 ? stream.size() : std::min(done + step, stream.size());
      std::copy(stream.begin() + static_cast<ptrdiff_t>(done),
                stream.begin() + static_cast<ptrdiff_t>(next), memory.stream + done);
      done = next;
      if (step == 0) break;
      // As it is used: nothing of the last bytes of the stream may be overwritten.
      constexpr size_t kKept = 100;
      const uint8_t* end = memory.stream + done;
      const ByteVector kept(end - std::min(done, kKept), end);
      const size_t before = memory.shared ? static_cast<size_t>(end - pixels) : SIZE_MAX;
      EXPECT_TRUE(before < kKept || writer.WriteUpTo(end, before - kKept).ok());
      EXPECT_EQ(kept, ByteVector(end - kept.size(), end));
    }
    EXPECT_TRUE(writer.WriteRest(memory.stream + memory.stream_size).ok());
    return {pixels, pixels + size};
  }
};

TEST_F(PngPixelWriterTest, WritesTheSameHoweverTheStreamComes) {
  for (const Layout& layout : kLayouts) {
    for (const auto& [height, width] : {std::pair{70u, 33u}, {5u, 400u}, {300u, 2u}, {1u, 1u}}) {
      const PngHeader header = Header(layout, height, width);
      const ByteVector want = Write(header, 0, false);
      for (const size_t step : {1, 50, 777, 5000}) {
        EXPECT_EQ(Write(header, step, false), want);
        EXPECT_EQ(Write(header, step, true), want);
      }
    }
  }
}

TEST_F(PngPixelWriterTest, ACanvasAroundThePixelsIsSetAtTheEnd) {
  PngHeader header = Header({PngColor::kRgb, 8, false}, 30, 30);
  header.region = PngRegion{3, 4, 20, 20};
  const std::vector<PngPass> passes = PngPasses(header);
  const ByteVector stream = Stream(passes);
  PngRows rows = PngRows::Create(header, {}).value();
  ByteVector pixels(30 * 30 * 3, 0x11);
  PngPixelWriter writer(header, passes, stream.data(), simd::ActiveKernels().value(), &rows,
                        pixels.data());
  const uint8_t* end = stream.data() + stream.size();
  EXPECT_TRUE(writer.WriteUpTo(end, SIZE_MAX).ok());
  EXPECT_EQ(pixels, ByteVector(30 * 30 * 3, 0x11));
  EXPECT_TRUE(writer.WriteRest(end).ok());
  EXPECT_EQ(pixels, Write(header, 0, false));
  EXPECT_EQ(pixels[0], 0);
}

TEST_F(PngPixelWriterTest, RowsThatDidNotComeAreBlackAndBadFiltersAreTold) {
  const PngHeader header = Header({PngColor::kGray, 8, false}, 2, 3);
  const std::vector<PngPass> passes = PngPasses(header);
  PngRows rows = PngRows::Create(header, {}).value();
  ByteVector pixels(18, 0x11);
  const simd::Kernels* kernels = simd::ActiveKernels().value();
  const ByteVector one = {0, 1, 2, 3};
  PngPixelWriter writer(header, passes, one.data(), kernels, &rows, pixels.data());
  EXPECT_TRUE(writer.WriteRest(one.data() + 4).ok());
  EXPECT_EQ(pixels, (ByteVector{1, 1, 1, 2, 2, 2, 3, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  const ByteVector bad = {0, 1, 2, 3, 9, 0, 0, 0};
  PngPixelWriter other(header, passes, bad.data(), kernels, &rows, pixels.data());
  EXPECT_EQ(other.WriteRest(bad.data() + 8).error().message, "png: row 1 of 2 has filter 9");
}

}  // namespace
}  // namespace mmcpp::codec
