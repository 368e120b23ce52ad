#include "codec/png_chunks.h"

#include <gtest/gtest.h>

#include <string>

#include "support/png_builder.h"

namespace mmcpp::codec {
namespace {

using test::BigEndian;
using test::ByteVector;
using test::Chunk;
using test::Joined;
using test::PngHeaderChunk;
using test::PngSignature;
using Kind = PngTransparency::Kind;

const ByteVector kIdat = Chunk("IDAT", {1, 2, 3}), kIend = Chunk("IEND", {});

/// A picture of 5 x 7 pixels whose header is followed by `chunks`.
ByteVector File(uint8_t color, const ByteVector& chunks) {
  return Joined({PngSignature(), PngHeaderChunk(5, 7, 8, color), chunks, kIdat, kIend});
}

/// What ReadHeader says of it: "" or the message.
std::string Refusal(const ByteVector& file) {
  PngChunks chunks(file);
  const Status status = chunks.ReadHeader();
  return status.ok() ? "" : status.error().message;
}

PngHeader HeaderOf(const ByteVector& file) {
  PngChunks chunks(file);
  const Status status = chunks.ReadHeader();
  EXPECT_TRUE(status.ok()) << status.error().message;
  return chunks.header();
}

ByteVector Fctl(uint32_t sequence, uint32_t height, uint32_t width, uint32_t y, uint32_t x) {
  return Chunk("fcTL", Joined({BigEndian(sequence), BigEndian(width), BigEndian(height),
                               BigEndian(x), BigEndian(y), ByteVector(6)}));
}
ByteVector Actl(uint32_t frames) {
  return Chunk("acTL", Joined({BigEndian(frames), BigEndian(0)}));
}

TEST(PngChunks, ReadsTheHeader) {
  const PngHeader header = HeaderOf(File(2, {}));
  EXPECT_EQ(header.height, 5u);
  EXPECT_EQ(header.width, 7u);
  EXPECT_EQ(header.depth, 8);
  EXPECT_EQ(header.color, PngColor::kRgb);
  EXPECT_FALSE(header.interlaced);
  EXPECT_EQ(header.frames, 1u);
}

TEST(PngChunks, NamesPillowsModes) {
  const auto mode = [](uint8_t depth, uint8_t color) {
    const ByteVector file = Joined({PngSignature(), PngHeaderChunk(1, 1, depth, color), kIdat});
    return std::string(PngMode(HeaderOf(file)));
  };
  EXPECT_EQ(mode(1, 0), "1");
  EXPECT_EQ(mode(2, 0), "L");
  EXPECT_EQ(mode(16, 0), "I;16");
  EXPECT_EQ(mode(16, 2), "RGB");
  EXPECT_EQ(mode(4, 3), "P");
  EXPECT_EQ(mode(8, 4), "LA");
  EXPECT_EQ(mode(16, 4), "RGBA");
  EXPECT_EQ(mode(8, 6), "RGBA");
}

TEST(PngChunks, ChecksumsCountBeforeThePixelsAndNotAfter) {
  EXPECT_EQ(Refusal(File(2, Chunk("tIME", ByteVector(7)))), "");
  for (const char* name : {"tIME", "iTXt", "abCd", "ABCD", "PLTE"}) {
    EXPECT_EQ(Refusal(File(2, Chunk(name, {1, 2, 3}, 1))),
              "png: chunk " + std::string(name) + " at byte 33 has a wrong checksum");
  }
  const ByteVector after =
      Joined({PngSignature(), PngHeaderChunk(5, 7, 8, 2), kIdat, Chunk("abCd", {1}, 1), kIend});
  PngChunks chunks(after);
  EXPECT_TRUE(chunks.ReadHeader().ok());
  chunks.SkipData();
  EXPECT_TRUE(chunks.ReadTrailer().ok());
}

TEST(PngChunks, RefusesWhatPillowRefuses) {
  for (const auto& [name, size] : std::vector<std::pair<std::string, size_t>>{
           {"gAMA", 3}, {"cHRM", 31}, {"sRGB", 0}, {"pHYs", 8}, {"acTL", 7}, {"fcTL", 25}}) {
    EXPECT_NE(Refusal(File(2, Chunk(name, ByteVector(size)))), "") << name;
  }
  EXPECT_NE(Refusal(File(2, Chunk("ab-d", {}))), "");              // no name
  EXPECT_NE(Refusal(File(2, Chunk("IHDR", ByteVector(12)))), "");  // another header, too short
  EXPECT_NE(Refusal(File(2, Chunk("iCCP", {'n', 0, 1}))), "");     // unknown compression
  EXPECT_NE(Refusal(File(2, Chunk("zTXt", {'n', 0, 1}))), "");
  EXPECT_NE(Refusal(File(2, Chunk("tRNS", ByteVector(5)))), "");
  EXPECT_NE(Refusal(File(0, Chunk("tRNS", ByteVector(1)))), "");
  EXPECT_EQ(Refusal(File(4, Chunk("tRNS", ByteVector(1)))), "");  // not looked at
  EXPECT_NE(Refusal(Joined({PngSignature(), PngHeaderChunk(0, 7, 8, 2), kIdat})), "");
  EXPECT_NE(Refusal(Joined({PngSignature(), PngHeaderChunk(5, 7, 3, 2), kIdat, kIend})), "");
}

TEST(PngChunks, EndsSomewhereForEveryCut) {
  const ByteVector file = File(3, Joined({Chunk("PLTE", ByteVector(9)), Chunk("tRNS", {1, 2})}));
  for (size_t size = 0; size < file.size(); ++size) {
    const ByteVector cut(file.begin(), file.begin() + static_cast<ptrdiff_t>(size));
    PngChunks chunks(cut);
    if (!chunks.ReadHeader().ok()) continue;
    chunks.SkipData();
    (void)chunks.ReadTrailer();
  }
}

TEST(PngChunks, KeepsTransparencyAsPillowDoes) {
  const auto of = [](uint8_t color, const ByteVector& data) {
    return HeaderOf(File(color, Chunk("tRNS", data))).transparency;
  };
  EXPECT_EQ(of(3, {255, 0, 255}).kind, Kind::kValue);
  EXPECT_EQ(of(3, {255, 0, 255}).value[0], 1u);
  EXPECT_EQ(of(3, {0, '\n'}).kind, Kind::kValue);  // Pillow's pattern lets a newline end it
  EXPECT_EQ(of(3, {0, 0}).kind, Kind::kAlphas);
  EXPECT_EQ(of(3, {255, 254, 0}).kind, Kind::kAlphas);
  EXPECT_EQ(of(3, {255}).kind, Kind::kAlphas);
  EXPECT_EQ(of(0, {1, 2}).value[0], 0x102u);
  EXPECT_EQ(of(2, {0, 1, 0, 2, 0, 3}).kind, Kind::kColor);
  EXPECT_EQ(of(2, {0, 1, 0, 2, 0, 3}).value[2], 3u);
  EXPECT_EQ(of(6, {0, 1, 0, 2, 0, 3}).kind, Kind::kNone);
}

TEST(PngChunks, TextsTakeThePlaceOfWhatPillowKeepsBesideThem) {
  const auto text = [](const std::string& key, const std::string& value) {
    return Chunk("tEXt", test::Joined({test::Text(key), {0}, test::Text(value)}));
  };
  EXPECT_TRUE(HeaderOf(File(2, text("interlace", "x"))).interlaced);
  EXPECT_FALSE(HeaderOf(File(2, text("interlace", ""))).interlaced);
  EXPECT_EQ(HeaderOf(File(2, text("transparency", "x"))).transparency.kind, Kind::kText);
  EXPECT_TRUE(HeaderOf(File(2, text("bbox", "x"))).region_is_text);
  EXPECT_EQ(Refusal(File(2, text("", "no key"))), "");
}

TEST(PngChunks, AnimationsStartWithTheirFirstFrameOrAPictureOfItsOwn) {
  PngHeader header = HeaderOf(File(2, Joined({Actl(3), Fctl(0, 2, 3, 1, 4)})));
  EXPECT_EQ(header.frames, 3u);
  ASSERT_TRUE(header.region.has_value());
  EXPECT_EQ(header.region->y, 1u);
  EXPECT_EQ(header.region->x, 4u);
  EXPECT_EQ(header.region->height, 2u);
  EXPECT_EQ(header.region->width, 3u);
  EXPECT_EQ(HeaderOf(File(2, Actl(3))).frames, 4u);
  EXPECT_EQ(HeaderOf(File(2, Joined({Actl(3), Actl(3)}))).frames, 1u);  // not an animation
  EXPECT_EQ(HeaderOf(File(2, Actl(0))).frames, 1u);
  EXPECT_NE(Refusal(File(2, Fctl(1, 2, 3, 1, 4))), "");  // out of sequence
  EXPECT_NE(Refusal(File(2, Fctl(0, 2, 3, 4, 4))), "");  // outside
  EXPECT_NE(Refusal(File(2, Fctl(0, 0xffffffff, 3, 4, 4))), "");
}

TEST(PngChunks, ReadsPixelDataInPieces) {
  const ByteVector file =
      Joined({PngSignature(), PngHeaderChunk(5, 7, 8, 2), Chunk("IDAT", {1, 2, 3}),
              Chunk("IDAT", {}), Chunk("IDAT", {4, 5}), Chunk("tIME", {9}), kIend});
  PngChunks chunks(file);
  ASSERT_TRUE(chunks.ReadHeader().ok());
  ASSERT_TRUE(chunks.has_data());
  const auto all = chunks.AllData();
  ASSERT_TRUE(all.has_value());
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ(ByteVector((*all)[0].begin(), (*all)[0].end()), (ByteVector{1, 2, 3}));
  EXPECT_EQ(ByteVector((*all)[1].begin(), (*all)[1].end()), (ByteVector{4, 5}));
  ByteVector sizes;
  for (;;) {
    const Bytes piece = chunks.ReadData(2).value();
    if (piece.empty()) break;
    sizes.push_back(static_cast<uint8_t>(piece.size()));
  }
  EXPECT_EQ(sizes, (ByteVector{2, 1, 2}));
  EXPECT_TRUE(chunks.ReadTrailer().ok());
}

TEST(PngChunks, DataInVeryManyPiecesAreNotListed) {
  const auto lists = [](size_t count, size_t size) {
    ByteVector file = Joined({PngSignature(), PngHeaderChunk(5, 7, 8, 2)});
    for (size_t i = 0; i < count; ++i) test::Append(&file, Chunk("IDAT", ByteVector(size)));
    test::Append(&file, kIend);
    PngChunks chunks(file);
    EXPECT_TRUE(chunks.ReadHeader().ok());
    const auto all = chunks.AllData();
    EXPECT_TRUE(!all || all->size() == count);
    return all.has_value();
  };
  EXPECT_TRUE(lists(1000, 1));
  EXPECT_FALSE(lists(2000, 1));
  EXPECT_TRUE(lists(2000, 256));
}

TEST(PngChunks, DataThatAreCutShortAreNotGivenAtOnce) {
  const ByteVector file = File(2, {});
  for (size_t cut = 1; cut <= 17; ++cut) {
    PngChunks chunks(Bytes(file.data(), file.size() - cut));
    ASSERT_TRUE(chunks.ReadHeader().ok());
    EXPECT_EQ(chunks.AllData().has_value(), cut <= 4) << cut;  // all but IEND's own checksum
  }
}

// zTXt, iTXt and iCCP bombs: Pillow refuses them, and little of them is inflated.
TEST(PngChunks, TextBombsAreRefused) {
  // 1 MiB and a byte, stored in 17 blocks; only the first has the zlib header.
  ByteVector stream = {0x78, 0x01};
  for (int block = 0; block < 17; ++block) {
    const size_t size = block < 16 ? 65535 : 17;
    const auto low = static_cast<uint8_t>(size), high = static_cast<uint8_t>(size >> 8);
    test::Append(&stream, {static_cast<uint8_t>(block == 16), low, high, static_cast<uint8_t>(~low),
                           static_cast<uint8_t>(~high)});
    stream.resize(stream.size() + size, 'a');
  }
  for (const ByteVector& chunk :
       {Chunk("zTXt", Joined({{'k', 0, 0}, stream})), Chunk("iCCP", Joined({{'k', 0, 0}, stream})),
        Chunk("iTXt", Joined({{'k', 0, 1, 0, 0, 0}, stream}))}) {
    EXPECT_NE(Refusal(File(2, chunk)).find("inflates to more than 1 MiB"), std::string::npos);
  }
  EXPECT_EQ(Refusal(File(2, Chunk("iTXt", Joined({{'k', 0, 0, 0, 0, 0}, stream})))), "");
}

}  // namespace
}  // namespace mmcpp::codec
