#include "codec/bmp_header.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mmcpp::codec {
namespace {

using ByteVector = std::vector<uint8_t>;

void Append(ByteVector* out, uint32_t value, int bytes = 4) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<uint8_t>(value >> 8 * i));
}

struct Dib {
  uint32_t header = 40, height = 3, width = 5, bits = 24, compression = 0, colors = 0;
  std::vector<uint32_t> masks = {};
  ByteVector palette = {};

  ByteVector Bytes() const {
    ByteVector out;
    Append(&out, header);
    Append(&out, width);  // width first
    Append(&out, height);
    Append(&out, 1, 2);
    Append(&out, bits, 2);
    for (uint32_t value : {compression, 0u, 0u, 0u, colors, 0u}) Append(&out, value);
    for (uint32_t mask : masks) Append(&out, mask);
    if (header < 200 && out.size() < header) out.resize(header);
    out.insert(out.end(), palette.begin(), palette.end());
    return out;
  }
  /// As a file whose pixels start at `offset`.
  ByteVector File(uint32_t offset) const {
    ByteVector out = {'B', 'M'};
    for (uint32_t value : {0u, 0u, offset}) Append(&out, value);
    const ByteVector dib = Bytes();
    out.insert(out.end(), dib.begin(), dib.end());
    return out;
  }
};

BmpHeader Read(const ByteVector& bytes) {
  auto header = ReadBmpHeader(bytes);
  EXPECT_TRUE(header.ok()) << header.error().message;
  return header.ok() ? *header : BmpHeader();
}
bool Refused(const ByteVector& bytes) { return !ReadBmpHeader(bytes).ok(); }

TEST(ReadBmpHeader, OfAPlainPicture) {
  const ByteVector file = Dib().File(54);
  const BmpHeader header = Read(file);
  EXPECT_EQ(header.height, 3u);
  EXPECT_EQ(header.width, 5u);
  EXPECT_FALSE(header.top_down);
  EXPECT_EQ(std::string(header.mode()), "RGB");
  EXPECT_EQ(header.row_bytes, 16u);
  EXPECT_EQ(header.data, 54u);
  EXPECT_EQ(Read(Dib().Bytes()).data, 40u);  // a bare DIB: behind the header
}

TEST(ReadBmpHeader, HeightsBelowZeroAreTopDown) {
  Dib dib;
  dib.height = 0u - 3;
  EXPECT_TRUE(Read(dib.Bytes()).top_down);
  EXPECT_EQ(Read(dib.Bytes()).height, 3u);
  dib.height = 0x80000000;  // not taken for a negative one
  EXPECT_FALSE(Read(dib.Bytes()).top_down);
  EXPECT_EQ(Read(dib.Bytes()).height, 0x80000000u);
}

TEST(ReadBmpHeader, MasksArePartOfTheHeaderOrBehindIt) {
  Dib dib;
  dib.bits = 32;
  dib.compression = 3;
  dib.masks = {0xff, 0xff00, 0xff0000, 0xff000000};
  dib.header = 56;
  EXPECT_EQ(std::string(Read(dib.Bytes()).mode()), "RGBA");
  dib.header = 52;  // without alpha, and then the layout is not known
  EXPECT_TRUE(Refused(dib.Bytes()));
  dib.masks = {0xff0000, 0xff00, 0xff};
  EXPECT_EQ(std::string(Read(dib.Bytes()).mode()), "RGB");
  dib.header = 40;
  EXPECT_EQ(Read(dib.Bytes()).data, 52u);
  dib.masks = {0xff0000, 0xff00};
  EXPECT_TRUE(Refused(dib.Bytes()));  // cut short
  dib.bits = 8;
  dib.masks = {0xff0000, 0xff00, 0xff};
  EXPECT_TRUE(Refused(dib.Bytes()));
}

TEST(ReadBmpHeader, PalettesOfGraysMakeGrayPictures) {
  Dib dib;
  dib.bits = 8;
  for (int i = 0; i < 256; ++i) dib.palette.insert(dib.palette.end(), 4, static_cast<uint8_t>(i));
  EXPECT_EQ(std::string(Read(dib.Bytes()).mode()), "L");
  dib.palette[4] ^= 1;
  EXPECT_EQ(std::string(Read(dib.Bytes()).mode()), "P");
  dib.palette = {0, 0, 0, 0, 255, 255, 255, 0};
  dib.colors = 2;
  const BmpHeader black_white = Read(dib.Bytes());
  EXPECT_EQ(std::string(black_white.mode()), "1");
  EXPECT_EQ(black_white.stored_bits, 1u);  // whatever the header says
  dib.palette = {255, 255, 255, 0, 0, 0, 0, 0};
  EXPECT_EQ(std::string(Read(dib.Bytes()).mode()), "P");
}

TEST(ReadBmpHeader, AnOffsetOfThePaletteMeansThePixelsBehindIt) {
  Dib dib;
  dib.bits = 8;
  dib.palette.assign(1024, 7);
  EXPECT_EQ(Read(dib.File(54)).data, 54u + 1024);
  EXPECT_EQ(Read(dib.File(60)).data, 60u);
  EXPECT_EQ(Read(dib.File(0)).data, 54u + 1024);
}

TEST(ReadBmpHeader, RefusesWhatPillowRefuses) {
  const ByteVector whole = Dib().File(54);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_TRUE(Refused({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)})) << size;
  }
  const auto with = [](auto member, uint32_t value) {
    Dib dib;
    dib.*member = value;
    return dib.Bytes();
  };
  EXPECT_TRUE(Refused(with(&Dib::header, 44)));
  EXPECT_TRUE(Refused(with(&Dib::header, 0xffffffff)));
  EXPECT_TRUE(Refused(with(&Dib::height, 0)));
  EXPECT_TRUE(Refused(with(&Dib::width, 0)));
  for (uint32_t bits : {0u, 2u, 15u, 48u, 64u}) EXPECT_TRUE(Refused(with(&Dib::bits, bits)));
  for (uint32_t way : {4u, 5u, 11u}) EXPECT_TRUE(Refused(with(&Dib::compression, way)));
  Dib dib;
  dib.bits = 8;
  dib.colors = 65537;
  EXPECT_TRUE(Refused(dib.Bytes()));
}

}  // namespace
}  // namespace mmcpp::codec
