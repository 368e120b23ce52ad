#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "codec/formats.h"
#include "support/decode_golden.h"
#include "support/isa_fixture.h"
#include "support/png_builder.h"

namespace mmcpp::codec {
namespace {

using test::BigEndian;
using test::ByteVector;
using test::Chunk;
using test::Joined;
using test::PngFile;
using test::PngHeaderChunk;
using test::PngSignature;

ByteVector Pixels(const Result<Image>& image) {
  EXPECT_TRUE(image.ok()) << image.error().message;
  if (!image.ok()) return {};
  return {image->data(), image->data() + image->row_bytes() * static_cast<size_t>(image->height())};
}
ByteVector Pixels(const ByteVector& file, const DecodeOptions& options = {}) {
  return Pixels(DecodePng(file, options));
}

const ByteVector kHeader = PngHeaderChunk(2, 1, 8, 2);
const ByteVector kRows = {0, 1, 2, 3, 2, 10, 10, 10};  // the second with filter Up
const ByteVector kPixels = {1, 2, 3, 11, 12, 13};
const ByteVector kFile = PngFile(kHeader, {}, kRows);

class DecodePngTest : public test::IsaTest {};

TEST_P(DecodePngTest, EqualsPillow) {
  (void)kernels();
  EXPECT_GE(test::CheckGoldenPictures("decode_png_gif_bmp.json", "decode_png_fuzz"), 75);
}
MMCPP_INSTANTIATE_ISA_TEST(DecodePngTest);

TEST(DecodePng, Decodes) {
  EXPECT_EQ(Pixels(kFile), kPixels);
  const ImageInfo info = ReadPngInfo(kFile).value();
  EXPECT_EQ(info.format, ImageFormat::kPng);
  EXPECT_EQ(info.height, 2);
  EXPECT_EQ(info.width, 1);
  EXPECT_EQ(info.mode, "RGB");
  EXPECT_EQ(info.bit_depth, 8);
  EXPECT_FALSE(info.has_alpha);
  EXPECT_EQ(info.orientation, 1);
  EXPECT_EQ(info.frames, 1);
}

// The kind of fault: files cut short. Pillow does not miss IEND, nor anything after the pixels.
TEST(DecodePng, TruncatedFiles) {
  const size_t needed = kFile.size() - 12 - 4;  // without IEND and without IDAT's checksum
  for (size_t size = 0; size <= kFile.size(); ++size) {
    const auto image = DecodePng(Bytes(kFile.data(), size), {});
    // zlib looks at the stream's own checksum only if it is all there.
    EXPECT_EQ(image.ok(), size + 4 >= needed) << size;
    if (image.ok()) {
      EXPECT_EQ(Pixels(image), kPixels);
    } else {
      EXPECT_EQ(image.error().code, ErrorCode::kCorruptInput);
    }
  }
}

// The kind of fault: wrong checksums. Pillow checks every chunk before the pixels, not the pixels'.
TEST(DecodePng, Checksums) {
  const ByteVector end = Chunk("IEND", {});
  const auto with_idat = [&](uint32_t change) {
    return Joined({PngSignature(), kHeader, Chunk("IDAT", test::Stored(kRows), change), end});
  };
  EXPECT_EQ(Pixels(with_idat(1)), kPixels);
  for (const char* name : {"PLTE", "iCCP", "iTXt", "abCd"}) {
    const auto image = DecodePng(PngFile(kHeader, {Chunk(name, {'a', 0, 0}, 1)}, kRows), {});
    ASSERT_FALSE(image.ok()) << name;
    EXPECT_EQ(image.error().message,
              "png: chunk " + std::string(name) + " at byte 33 has a wrong checksum");
  }
  ByteVector ihdr = kFile;
  ihdr[29] ^= 1;
  EXPECT_FALSE(DecodePng(ihdr, {}).ok());
  EXPECT_EQ(Pixels(Joined({kFile, {1, 2, 3}})), kPixels);  // bytes after IEND
}

TEST(DecodePng, DamagedPixels) {
  ByteVector adler = test::Stored(kRows);
  adler.back() ^= 1;
  const auto file = [&](const ByteVector& stream) {
    return Joined({PngSignature(), kHeader, Chunk("IDAT", stream), Chunk("IEND", {})});
  };
  EXPECT_EQ(DecodePng(file(adler), {}).error().message, "png: pixel data is damaged in row 1 of 2");
  EXPECT_EQ(DecodePng(file({1, 2, 3}), {}).error().message,
            "png: pixel data is damaged in row 0 of 2");
  const ByteVector filter5 = {0, 1, 2, 3, 5, 1, 2, 3};
  EXPECT_EQ(DecodePng(file(test::Stored(filter5)), {}).error().message,
            "png: row 1 of 2 has filter 5");
  // More rows than the picture has, and bytes after the stream.
  EXPECT_EQ(Pixels(file(test::Stored(Joined({kRows, {9, 9, 9, 9}})))), kPixels);
  EXPECT_EQ(Pixels(file(Joined({test::Stored(kRows), {9, 9}}))), kPixels);
  // A stream that ends after a whole row leaves the rest black; after half a row it is refused.
  EXPECT_EQ(Pixels(file(test::Stored({0, 1, 2, 3}))), (ByteVector{1, 2, 3, 0, 0, 0}));
  EXPECT_FALSE(DecodePng(file(test::Stored({0, 1, 2, 3, 0})), {}).ok());
}

TEST(DecodePng, ChunksBetweenAndAfterThePixels) {
  const ByteVector stream = test::Stored(kRows);
  const auto part = [&](size_t begin, size_t end) {
    return Chunk("IDAT", {stream.begin() + static_cast<ptrdiff_t>(begin),
                          stream.begin() + static_cast<ptrdiff_t>(end)});
  };
  const ByteVector end = Chunk("IEND", {}), other = Chunk("tIME", ByteVector(7));
  const auto file = [&](std::initializer_list<ByteVector> parts) {
    return Joined({PngSignature(), kHeader, Joined(parts), end});
  };
  EXPECT_EQ(Pixels(file({part(0, 0), part(0, 5), part(0, 0), part(5, stream.size())})), kPixels);
  EXPECT_FALSE(DecodePng(file({part(0, 5), other, part(5, stream.size())}), {}).ok());
  EXPECT_EQ(Pixels(file({part(0, stream.size()), other, part(0, 3)})), kPixels);
  // What comes after the pixels may still be refused, and changes no size.
  EXPECT_FALSE(DecodePng(file({part(0, stream.size()), Chunk("gAMA", {1})}), {}).ok());
  EXPECT_EQ(Pixels(file({part(0, stream.size()), PngHeaderChunk(60000, 60000, 8, 6)})), kPixels);
}

// The kind of fault: transparency kept or dropped, in every form it has.
TEST(DecodePng, TransparencyAfterThePixelsCounts) {
  const ByteVector file = Joined({PngSignature(), kHeader, Chunk("IDAT", test::Stored(kRows)),
                                  Chunk("tRNS", {0, 1, 0, 2, 0, 3}), Chunk("IEND", {})});
  EXPECT_EQ(Pixels(file), kPixels);
  DecodeOptions options;
  options.alpha = AlphaMode::kComposite;
  EXPECT_EQ(Pixels(file, options), (ByteVector{255, 255, 255, 11, 12, 13}));
}

TEST(DecodePng, DeepPicturesAreRefusedOnRequest) {
  const ByteVector file = PngFile(PngHeaderChunk(1, 1, 16, 0), {}, {0, 1, 0});
  EXPECT_EQ(Pixels(file), (ByteVector{255, 255, 255}));
  DecodeOptions options;
  options.deep = DeepMode::kRefuse;
  EXPECT_EQ(DecodePng(file, options).error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(DecodePng(kFile, options).ok());
}

TEST(DecodePng, FirstFramesOfAnimationsHaveTheirPlace) {
  const auto number = [](uint32_t value) { return BigEndian(value); };
  const ByteVector frame =
      Chunk("fcTL", Joined({number(0), number(1), number(1), number(1), number(0), ByteVector(6)}));
  const ByteVector file =
      PngFile(PngHeaderChunk(1, 3, 8, 2), {Chunk("acTL", Joined({number(2), number(0)})), frame},
              {0, 7, 8, 9});
  EXPECT_EQ(Pixels(file), (ByteVector{0, 0, 0, 7, 8, 9, 0, 0, 0}));
  EXPECT_EQ(ReadPngInfo(file)->frames, 2);
}

// The kind of fault: EXIF in an eXIf chunk, before or behind the pixels, or as ImageMagick's text.
TEST(ReadPngInfo, FindsTheOrientation) {
  const ByteVector tiff = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0,
                           3,   0,   0, 0,  1, 0, 6, 0, 0, 0, 0, 0,    0};
  EXPECT_EQ(ReadPngInfo(PngFile(kHeader, {Chunk("eXIf", tiff)}, kRows))->orientation, 6);
  const ByteVector behind = Joined({PngSignature(), kHeader, Chunk("IDAT", test::Stored(kRows)),
                                    Chunk("eXIf", tiff), Chunk("IEND", {})});
  EXPECT_EQ(ReadPngInfo(behind)->orientation, 6);
  std::string hex = "\nexif\n      26\n";
  for (uint8_t byte : tiff) {
    hex += "0123456789abcdef"[byte / 16];
    hex += "0123456789abcdef"[byte % 16];
    if (hex.size() % 7 == 0) hex += '\n';
  }
  const ByteVector text =
      Chunk("tEXt", Joined({test::Text("Raw profile type exif"), {0}, test::Text(hex)}));
  EXPECT_EQ(ReadPngInfo(PngFile(kHeader, {text}, kRows))->orientation, 6);
  EXPECT_EQ(
      ReadPngInfo(PngFile(kHeader, {Chunk("eXIf", {'j', 'u', 'n', 'k'})}, kRows))->orientation, 1);
  const ByteVector xmp = Chunk("iTXt", Joined({test::Text("XML:com.adobe.xmp"),
                                               {0, 0, 0, 0, 0},
                                               test::Text("<x tiff:Orientation=\"3\"/>")}));
  EXPECT_EQ(ReadPngInfo(PngFile(kHeader, {xmp}, kRows))->orientation, 3);
}

// The kind of fault: a small file that promises a large picture costs the memory of one.
TEST(DecodePng, PromisesCostNoMemory) {
  const auto peak = [] {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;  // KiB
  };
  const ByteVector bomb = PngFile(PngHeaderChunk(13000, 13000, 16, 6), {}, {0, 1, 2});
  [[maybe_unused]] const long before = peak();
  EXPECT_EQ(DecodePng(bomb, {}).error().code, ErrorCode::kCorruptInput);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these keep books of memory
  EXPECT_LT(peak() - before, 64 << 10);
#endif
  EXPECT_EQ(DecodeImage(PngFile(PngHeaderChunk(20000, 20000, 8, 2), {}, {0})).error().code,
            ErrorCode::kLimitExceeded);
  EXPECT_EQ(ReadPngInfo(PngFile(PngHeaderChunk(-1, 1, 8, 2), {}, {0})).error().code,
            ErrorCode::kLimitExceeded);  // 2^32 - 1 rows
}

}  // namespace
}  // namespace mmcpp::codec
