#include "codec/inflate.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/guarded.h"
#include "support/isa_fixture.h"
#include "support/png_builder.h"

namespace mmcpp::codec {
namespace {

using test::ByteVector;

/// What zlib makes of a stream: all of it, if it is sound.
std::optional<ByteVector> ZlibInflate(const ByteVector& stream, size_t room) {
  z_stream z = {};
  EXPECT_EQ(inflateInit(&z), Z_OK);
  ByteVector out(room + 1);
  z.next_in = const_cast<Bytef*>(stream.data());  // zlib's type only
  z.avail_in = static_cast<uInt>(stream.size());
  z.next_out = out.data();
  z.avail_out = static_cast<uInt>(out.size());
  const int code = inflate(&z, Z_FINISH);
  out.resize(out.size() - z.avail_out);
  inflateEnd(&z);
  if (code != Z_STREAM_END) return std::nullopt;
  return out;
}

struct Deflating {
  int level = 6, strategy = Z_DEFAULT_STRATEGY, memory = 8;
  size_t flush_every = 0;
  int flush = Z_NO_FLUSH;
};

ByteVector ZlibDeflate(const ByteVector& bytes, const Deflating& how = {}) {
  z_stream z = {};
  EXPECT_EQ(deflateInit2(&z, how.level, Z_DEFLATED, 15, how.memory, how.strategy), Z_OK);
  ByteVector out(deflateBound(&z, static_cast<uLong>(bytes.size())) + bytes.size() * 16 + 64);
  z.next_out = out.data();
  z.avail_out = static_cast<uInt>(out.size());
  const size_t step = how.flush_every == 0 ? bytes.size() : how.flush_every;
  for (size_t at = 0; at < bytes.size(); at += step) {
    z.next_in = const_cast<Bytef*>(bytes.data() + at);
    z.avail_in = static_cast<uInt>(std::min(step, bytes.size() - at));
    EXPECT_EQ(deflate(&z, how.flush), Z_OK);
  }
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  return out;
}

/// The stream in pieces of `piece` bytes, the output asked for by `step` bytes. Neither memory may
/// be left. Nothing if it is refused.
std::optional<ByteVector> Inflate(const ByteVector& stream, size_t size, size_t piece = SIZE_MAX,
                                  size_t step = SIZE_MAX) {
  test::Guarded in(stream), out(ByteVector(size, 0xee));
  std::vector<Bytes> pieces;
  for (size_t at = 0; at < stream.size();) {
    const size_t length = std::min(piece, stream.size() - at);
    pieces.emplace_back(in.data() + at, length);
    at += length;
  }
  const auto inflater = std::make_unique<Inflater>(pieces, out.data(), size);
  for (size_t target = 0; target < size || size == 0;) {
    target = step < size - target ? target + step : size;
    if (!inflater->InflateTo(target)) return std::nullopt;
    EXPECT_GE(inflater->produced(), target);
    if (size == 0) break;
  }
  EXPECT_EQ(inflater->produced(), size);
  EXPECT_TRUE(out.Intact());
  return ByteVector(out.data(), out.data() + size);
}

/// As zlib, and in every way.
void ExpectSound(const ByteVector& bytes, const ByteVector& stream) {
  EXPECT_EQ(ZlibInflate(stream, bytes.size()), bytes);
  EXPECT_EQ(Inflate(stream, bytes.size()), bytes);
  for (const size_t piece : {1, 2, 7, 8, 23, 25, 1000, 65536}) {
    if (stream.size() / piece > 20000) continue;
    EXPECT_EQ(Inflate(stream, bytes.size(), piece, 1000 + piece), bytes) << piece;
  }
  EXPECT_FALSE(Inflate(stream, bytes.size() + 1));
  EXPECT_TRUE(bytes.empty() || !Inflate(stream, bytes.size() - 1));
  EXPECT_EQ(Inflate(test::Joined({stream, {1, 2, 3}}), bytes.size()), bytes);  // bytes after it
}

/// The same verdict as zlib, which is rarely that the stream is sound.
bool ExpectSameVerdict(const ByteVector& stream, size_t size) {
  std::optional<ByteVector> want = ZlibInflate(stream, size);
  if (want && want->size() != size) want.reset();
  for (const size_t piece : {SIZE_MAX, size_t{5}}) EXPECT_EQ(Inflate(stream, size, piece), want);
  return want.has_value();
}

// Kinds of pixels: noise of a few levels, marks on flat ground, text, repetitions at all distances.
std::vector<ByteVector> Kinds(size_t size) {
  std::mt19937 random(7);
  std::vector<ByteVector> kinds(6, ByteVector(size));
  for (size_t i = 0; i < size; ++i) {
    kinds[0][i] = static_cast<uint8_t>(random() % 16 + random() % 16);
    kinds[1][i] = static_cast<uint8_t>(random() % 50 == 0 ? random() : 0);
    kinds[2][i] = static_cast<uint8_t>("the quick brown fox "[random() % 20]);
    kinds[3][i] = static_cast<uint8_t>(random());
    const size_t distance = i == 0 ? 0 : 1 + i * i % std::min<size_t>(i, 40);
    kinds[4][i] = random() % 9 == 0 ? static_cast<uint8_t>(random()) : kinds[4][i - distance];
    const size_t far = i < 32000 ? 0 : 20000 + i / 100 % 12768;
    kinds[5][i] = far == 0 || i % 60 == 0 ? static_cast<uint8_t>(random()) : kinds[5][i - far];
  }
  return kinds;
}

class InflaterIsaTest : public test::IsaTest {};

TEST_P(InflaterIsaTest, TakesWhatZlibWrites) {
  (void)kernels();
  for (const size_t size : {size_t{1}, size_t{2}, size_t{300}, size_t{5000}, size_t{100001}}) {
    for (const ByteVector& bytes : Kinds(size)) {
      for (const int level : {0, 1, 6, 9}) ExpectSound(bytes, ZlibDeflate(bytes, {level}));
      for (const int strategy : {Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED}) {
        ExpectSound(bytes, ZlibDeflate(bytes, {6, strategy, 9}));
      }
    }
  }
  ExpectSound({}, ZlibDeflate({}));
}

TEST(Inflater, ManyTinyBlocks) {
  for (const ByteVector& bytes : Kinds(1500)) {
    for (const int flush : {Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_PARTIAL_FLUSH, Z_BLOCK}) {
      for (const size_t every : {1, 10, 333}) {
        ExpectSound(bytes, ZlibDeflate(bytes, {6, Z_DEFAULT_STRATEGY, 8, every, flush}));
        ExpectSound(bytes, ZlibDeflate(bytes, {6, Z_FIXED, 1, every, flush}));
      }
    }
  }
}

TEST(Inflater, RunsOfEveryDistance) {
  std::mt19937 random(4);
  for (size_t distance = 1; distance <= 70; ++distance) {
    // Amid noise, so that they do not lie at an end.
    ByteVector bytes;
    for (const size_t length : {3, 8, 9, 31, 33, 100, 258, 700}) {
      for (int i = 0; i < 100; ++i) bytes.push_back(static_cast<uint8_t>(random()));
      for (size_t i = 0; i < length; ++i) bytes.push_back(bytes[bytes.size() - distance]);
    }
    for (int i = 0; i < 400; ++i) bytes.push_back(static_cast<uint8_t>(random()));
    ExpectSound(bytes, ZlibDeflate(bytes));
  }
}

// Frequencies like Fibonacci's numbers make codes as long as they may be.
TEST(Inflater, LongCodes) {
  ByteVector bytes;
  size_t count = 1, before = 1;
  for (uint8_t symbol = 0; symbol < 22; ++symbol) {
    bytes.insert(bytes.end(), count, symbol);
    count += std::exchange(before, count);
  }
  std::shuffle(bytes.begin(), bytes.end(), std::mt19937(3));
  ExpectSound(bytes, ZlibDeflate(bytes, {6, Z_HUFFMAN_ONLY, 9}));
}

TEST(Inflater, DamageAnywhere) {
  size_t sound = 0;
  for (const ByteVector& bytes : Kinds(250)) {
    for (const Deflating& how : {Deflating{6}, Deflating{0}, Deflating{6, Z_FIXED},
                                 Deflating{6, Z_DEFAULT_STRATEGY, 8, 100, Z_SYNC_FLUSH}}) {
      const ByteVector stream = ZlibDeflate(bytes, how);
      for (size_t i = 0; i < stream.size(); ++i) {
        ByteVector damaged = stream;
        damaged[i] ^= static_cast<uint8_t>(1u << i % 8);
        sound += ExpectSameVerdict(damaged, bytes.size()) ? 1 : 0;
        damaged[i] = static_cast<uint8_t>(i * 101);
        ExpectSameVerdict(damaged, bytes.size());
        ExpectSameVerdict({stream.begin(), stream.begin() + static_cast<ptrdiff_t>(i)},
                          bytes.size());
      }
    }
  }
  EXPECT_GT(sound, 0u);  // some bits mean nothing: of the window's size, and before a stored block
}

/// Writes bits, the first lowest.
class BitWriter {
 public:
  /// Any number of them; those beyond 32 are zeros.
  BitWriter& Put(uint32_t value, int size) {
    for (int i = 0; i < size; ++i, ++count_) {
      const uint32_t bit = i < 32 ? value >> i & 1 : 0;
      if (count_ % 8 == 0) bytes_.push_back(0);
      bytes_.back() = static_cast<uint8_t>(bytes_.back() | bit << count_ % 8);
    }
    return *this;
  }
  /// A code, whose first bit is its highest.
  BitWriter& Code(uint32_t code, int size) {
    while (size-- > 0) Put(code >> size & 1, 1);
    return *this;
  }
  /// A zlib stream of these blocks that gives `content`.
  ByteVector Stream(const ByteVector& content) const {
    uLong adler = adler32(1, content.data(), static_cast<uInt>(content.size()));
    return test::Joined({{0x78, 0x01}, bytes_, test::BigEndian(static_cast<uint32_t>(adler))});
  }

 private:
  ByteVector bytes_;
  int count_ = 0;
};

/// The start of a block with fixed codes, and the letter 'a'.
BitWriter FixedA() { return BitWriter().Put(0b011, 3).Code(0x30 + 'a', 8); }

TEST_P(InflaterIsaTest, NothingIsCopiedFromBeforeTheOutput) {
  (void)kernels();
  // The checksums are those of what a copy from there would give.
  constexpr uint8_t kBefore = test::Guarded::kMark;
  const auto stream = [](uint32_t distance_code, const ByteVector& copied) {
    return FixedA()
        .Code(1, 7)
        .Code(distance_code, 5)
        .Code(0, 7)
        .Stream(test::Joined({{'a'}, copied}));
  };
  EXPECT_TRUE(ExpectSameVerdict(stream(0, {'a', 'a', 'a'}), 4));
  EXPECT_FALSE(ExpectSameVerdict(stream(1, {kBefore, 'a', kBefore}), 4));  // two before
  EXPECT_FALSE(ExpectSameVerdict(stream(30, {'a', 'a', 'a'}), 4));         // no distance
  // Where the fast loop is at work: after 501 letters.
  const auto far = [](uint32_t distance, uint8_t copied) {
    BitWriter writer = FixedA();
    for (int i = 0; i < 500; ++i) writer.Code(0x30 + 'a', 8);
    writer.Code(1, 7).Code(17, 5).Put(distance - 385, 7);
    for (int i = 0; i < 500; ++i) writer.Code(0x30 + 'a', 8);
    ByteVector content(1004, 'a');
    content[501] = copied;
    return writer.Code(0, 7).Stream(content);
  };
  EXPECT_TRUE(ExpectSameVerdict(far(501, 'a'), 1004));
  EXPECT_FALSE(ExpectSameVerdict(far(502, kBefore), 1004));
}

MMCPP_INSTANTIATE_ISA_TEST(InflaterIsaTest);

TEST(Inflater, WhatCodesMeanNothingIsRefused) {
  EXPECT_FALSE(ExpectSameVerdict(FixedA().Code(0b11000110, 8).Code(0, 12).Stream({'a'}), 1));
  EXPECT_FALSE(ExpectSameVerdict(BitWriter().Put(0b111, 3).Put(0, 40).Stream({}), 0));
  EXPECT_TRUE(ExpectSameVerdict(FixedA().Code(0, 7).Stream({'a'}), 1));
  EXPECT_FALSE(ExpectSameVerdict(FixedA().Code(0, 7).Stream({'b'}), 1));  // checksum
}

/// A last block whose lengths are sent by the code lengths `first` in the RFC's order, and by
/// `lengths` that give them and what follows.
BitWriter Dynamic(unsigned literals, unsigned distances, const ByteVector& first) {
  BitWriter writer;
  writer.Put(0b101, 3).Put(literals - 257, 5).Put(distances - 1, 5);
  writer.Put(static_cast<uint32_t>(first.size()) - 4, 4);
  for (const uint8_t length : first) writer.Put(length, 3);
  return writer;
}

TEST(Inflater, IncompleteCodes) {
  // In the order 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1: 18 and 1 have one bit, 1 is 0.
  const ByteVector ones = {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  // Symbols 0 to 137 and 138 to 255 have no code, the end has one bit; so has the only distance.
  const auto block = [&](unsigned distances) {
    return Dynamic(257, distances, ones).Code(1, 1).Put(127, 7).Code(1, 1).Put(107, 7).Code(0, 1);
  };
  EXPECT_TRUE(ExpectSameVerdict(block(1).Code(0, 1).Code(0, 1).Stream({}), 0));
  EXPECT_FALSE(ExpectSameVerdict(block(1).Code(0, 1).Code(1, 1).Stream({}), 0));
  EXPECT_TRUE(ExpectSameVerdict(block(2).Code(0, 1).Code(0, 1).Code(0, 1).Stream({}), 0));
  EXPECT_FALSE(
      ExpectSameVerdict(block(3).Code(0, 1).Code(0, 1).Code(0, 1).Code(0, 1).Stream({}), 0));
  // One distance has a bit, those after it none: 29 of them are allowed, 30 are not.
  const auto listed = [&](unsigned distances) {
    return block(distances).Code(0, 1).Code(1, 1).Put(distances - 12, 7).Code(0, 1).Stream({});
  };
  EXPECT_TRUE(ExpectSameVerdict(listed(30), 0));
  EXPECT_FALSE(ExpectSameVerdict(listed(31), 0));
  // The lengths' own code lacks one, or has one too many.
  ByteVector lacks = ones, many = ones;
  lacks[17] = 2;
  many[0] = 1;
  EXPECT_FALSE(ExpectSameVerdict(Dynamic(257, 1, lacks).Put(0, 300).Stream({}), 0));
  EXPECT_FALSE(ExpectSameVerdict(Dynamic(257, 1, many).Put(0, 300).Stream({}), 0));
  // A repetition of nothing, one that goes too far, and a block without an end.
  const ByteVector repeats = {1, 0, 1};
  EXPECT_FALSE(ExpectSameVerdict(Dynamic(257, 1, repeats).Code(0, 1).Put(0, 300).Stream({}), 0));
  const auto zeros = [&](unsigned more) {
    return Dynamic(257, 1, ones).Code(1, 1).Put(127, 7).Code(1, 1).Put(more, 7).Put(0, 40);
  };
  EXPECT_FALSE(ExpectSameVerdict(zeros(127).Stream({}), 0));
  EXPECT_FALSE(ExpectSameVerdict(zeros(108).Stream({}), 0));
}

TEST(Inflater, AChecksumThatIsCutIsNotFilledUp) {
  const ByteVector bytes = {255};
  const ByteVector stream = ZlibDeflate(bytes);
  ASSERT_EQ(stream.back(), 0);
  EXPECT_TRUE(ExpectSameVerdict(stream, 1));
  EXPECT_FALSE(ExpectSameVerdict({stream.begin(), stream.end() - 1}, 1));
}

TEST(Inflater, TheStartIsAsZlibWantsIt) {
  const ByteVector bytes = {1, 2, 3};
  const ByteVector stream = test::Stored(bytes);
  size_t sound = 0;
  for (int method = 0; method < 256; ++method) {
    for (int flags = 0; flags < 256; ++flags) {
      ByteVector changed = stream;
      changed[0] = static_cast<uint8_t>(method);
      changed[1] = static_cast<uint8_t>(flags);
      if ((method << 8 | flags) % 31 != 0 && flags != 1) continue;
      sound += ExpectSameVerdict(changed, 3) ? 1 : 0;
    }
  }
  EXPECT_EQ(sound, 32u);  // 8 windows, 4 levels
}

TEST(Inflater, APromiseIsNotWritten) {
  // Only what the stream holds is touched: here are addresses, but no memory.
  const size_t size = size_t{1} << 40;
  void* memory = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "no address space";
  mprotect(memory, 8192, PROT_READ | PROT_WRITE);
  const ByteVector stream = ZlibDeflate(ByteVector(4000, 5));
  const Bytes piece = stream;
  const auto inflater =
      std::make_unique<Inflater>(Span<const Bytes>(&piece, 1), static_cast<uint8_t*>(memory), size);
  EXPECT_FALSE(inflater->InflateTo(size));
  munmap(memory, size);
}

}  // namespace
}  // namespace mmcpp::codec
