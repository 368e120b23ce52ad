#include "codec/jpeg_frame.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/jpeg_writer.h"

namespace mmcpp::codec {
namespace {

std::vector<uint8_t> Picture(int width, std::vector<uint8_t> sampling) {
  test::JpegPlan plan;
  plan.height = 20;
  plan.width = width;
  plan.sampling = std::move(sampling);
  plan.restart_interval = 3;
  return test::JpegWriter(plan).Write();
}

bool IsPlain(const std::vector<uint8_t>& bytes) {
  JpegFrame frame;
  return ReadJpegFrame(bytes, &frame);
}

constexpr size_t kApp0 = 2, kBehindApp0 = 20;

TEST(JpegFrame, SaysWhatTheSegmentsSay) {
  const auto bytes = Picture(35, {0x21, 0x11, 0x11});
  JpegFrame frame;
  ASSERT_TRUE(ReadJpegFrame(bytes, &frame));
  EXPECT_EQ(frame.height, 20);
  EXPECT_EQ(frame.width, 35);
  EXPECT_EQ(frame.components, 3);
  EXPECT_EQ(frame.h, 2);
  EXPECT_EQ(frame.v, 1);
  EXPECT_EQ(frame.restart_interval, 3);
  EXPECT_EQ(bytes[frame.scan - 1], 0);
  EXPECT_EQ(bytes[frame.scan - 2], 63);
  EXPECT_EQ(frame.component[2].ac.symbols.size(), 162U);
}

TEST(JpegFrame, TakesPlainSamplingsOnly) {
  const std::vector<std::vector<uint8_t>> plain = {
      {0x11}, {0x42}, {0x11, 0x11, 0x11}, {0x22, 0x11, 0x11}};
  for (const auto& sampling : plain) EXPECT_TRUE(IsPlain(Picture(35, sampling)));
  const std::vector<std::vector<uint8_t>> odd = {
      {0x12, 0x11, 0x11}, {0x41, 0x11, 0x11}, {0x22, 0x21, 0x11}, {0x22, 0x22, 0x22}};
  for (const auto& sampling : odd) EXPECT_FALSE(IsPlain(Picture(35, sampling)));
  // jdsample.c repeats chroma of one or two samples.
  EXPECT_FALSE(IsPlain(Picture(4, {0x22, 0x11, 0x11})));
  EXPECT_TRUE(IsPlain(Picture(5, {0x22, 0x11, 0x11})));
  EXPECT_TRUE(IsPlain(Picture(4, {0x11, 0x11, 0x11})));
}

TEST(JpegFrame, LeavesRgbToLibjpeg) {
  const auto jfif = Picture(35, {0x11, 0x11, 0x11});
  auto bytes = jfif;
  bytes.erase(bytes.begin() + kApp0, bytes.begin() + kBehindApp0);
  EXPECT_TRUE(IsPlain(bytes));
  for (const uint8_t transform : {0, 1, 2}) {
    const std::vector<uint8_t> adobe = {0xff, 0xee, 0, 14, 'A', 'd', 'o', 'b',
                                        'e',  0,    0, 0,  0,   0,   0,   transform};
    auto marked = bytes;
    marked.insert(marked.begin() + 2, adobe.begin(), adobe.end());
    EXPECT_EQ(IsPlain(marked), transform != 0);
    marked = jfif;
    marked.insert(marked.begin() + 2, adobe.begin(), adobe.end());
    EXPECT_TRUE(IsPlain(marked));  // JFIF is stronger
  }
}

TEST(JpegFrame, IsNotPlainWithoutAnyOfItsBytes) {
  const auto bytes = Picture(35, {0x22, 0x11, 0x11});
  JpegFrame frame;
  ASSERT_TRUE(ReadJpegFrame(bytes, &frame));
  for (size_t size = 0; size < frame.scan; ++size) {
    JpegFrame other;
    const std::vector<uint8_t> prefix(bytes.begin(),
                                      bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(ReadJpegFrame(prefix, &other)) << size;
  }
}

}  // namespace
}  // namespace mmcpp::codec
