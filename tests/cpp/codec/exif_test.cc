#include "codec/exif.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace mmcpp::codec {
namespace {

using std::string_view_literals::operator""sv;

Bytes AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
int Read(std::string_view exif, std::string_view xmp = {}) {
  return ReadOrientation(AsBytes(exif), AsBytes(xmp));
}

// One directory at byte 8 with the orientation as SHORT, in either byte order.
constexpr std::string_view kSix = "II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"sv;
constexpr std::string_view kEight = "MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\x08\0\0\0\0\0\0"sv;
constexpr std::string_view kEmpty = "II*\0\x08\0\0\0\0\0\0\0\0\0"sv;

// Pillow 13.0.0's answers; tests/python/test_decode_exif.py compares many more with it live.
TEST(ReadOrientation, InBothByteOrders) {
  EXPECT_EQ(Read(kSix), 6);
  EXPECT_EQ(Read(kEight), 8);
  EXPECT_EQ(OrientationFromExif(AsBytes(kSix)), 6);
}

TEST(ReadOrientation, HeaderOnceOrTwiceOrNot) {
  const std::string header("Exif\0\0"sv);
  EXPECT_EQ(Read(header + std::string(kSix)), 6);
  EXPECT_EQ(Read(header + header + std::string(kSix)), 6);
  EXPECT_EQ(Read(header + header + header + std::string(kSix)), 1);
  EXPECT_EQ(Read(header), 1);
  EXPECT_EQ(Read(""), 1);
}

TEST(ReadOrientation, EveryPrefixIsRead) {
  for (size_t size = 0; size <= kSix.size(); ++size) {
    const std::string exact(kSix.substr(0, size));
    EXPECT_EQ(Read(exact), size >= 22 ? 6 : 1) << size;
  }
}

TEST(ReadOrientation, XmpCountsWhereExifIsSilent) {
  EXPECT_EQ(Read("", "tiff:Orientation=\"6\""), 6);
  EXPECT_EQ(Read(kEmpty, "<tiff:Orientation>3</tiff:Orientation>"), 3);
  EXPECT_EQ(Read(kSix, "tiff:Orientation=\"3\""), 6);
  EXPECT_EQ(Read("unreadable", "tiff:Orientation=\"3\""), 1);
  EXPECT_EQ(Read("", "tiff:Orientation"), 1);
  EXPECT_EQ(Read("", "tiff:Orientation=\""), 1);
  EXPECT_EQ(Read("", "tiff:Orientation=\"9\""), 1);
  EXPECT_EQ(Read("", "tiff:Orientation= tiff:Orientation>2"), 2);
}

TEST(CountOfMultiPicture, NeedsTheNumberAndItsEntries) {
  // Two tags: the number of images (LONG) and 16 bytes for each, at byte 38.
  std::string index(
      "II*\0\x08\0\0\0\2\0\1\xb0\4\0\1\0\0\0\3\0\0\0\2\xb0\7\0\x30\0\0\0\x26\0\0\0\0\0\0\0"sv);
  EXPECT_EQ(CountOfMultiPicture(AsBytes(index)), 1);  // the entries are not there
  index += std::string(48, '\0');
  EXPECT_EQ(CountOfMultiPicture(AsBytes(index)), 3);
  index[18] = 4;
  EXPECT_EQ(CountOfMultiPicture(AsBytes(index)), 1);  // more images than entries
  index[18] = '\xff';
  index[21] = '\xff';
  EXPECT_EQ(CountOfMultiPicture(AsBytes(index)), 1);
  EXPECT_EQ(CountOfMultiPicture(AsBytes("")), 1);
}

}  // namespace
}  // namespace mmcpp::codec
