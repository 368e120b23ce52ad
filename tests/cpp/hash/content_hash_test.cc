// ContentDigest against digests of PyPI's blake3 1.0.9: lengths around BLAKE3's block (64), chunk
// (1024) and SIMD batch borders.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mmcpp/hash.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

std::string HexOf(const std::array<uint8_t, 32>& digest) {
  std::string text;
  for (size_t word = 0; word < 4; ++word) {
    uint64_t value = 0;
    for (size_t i = 0; i < 8; ++i) value = value << 8 | digest[word * 8 + i];
    text += test::Hex(value);
  }
  return text;
}

TEST(ContentHash, EqualsTheReferenceCrate) {
  const auto& cases = test::ReferenceCrate()["hashes"];
  ASSERT_FALSE(cases.empty());
  for (const auto& item : cases) {
    const std::string text = item["text"];
    const Bytes bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    EXPECT_EQ(test::Hex(ContentHash(bytes)), item["u64"]) << text;
  }
}

TEST(ContentDigest, OfPartsIsThatOfTheWhole) {
  std::vector<uint8_t> data(5000);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i * 7);
  const Bytes whole(data.data(), data.size());
  const std::vector<Bytes> parts = {whole.subspan(0, 0), whole.subspan(0, 1),
                                    whole.subspan(1, 3000), whole.subspan(3001, 1999)};
  EXPECT_EQ(ContentDigest(Span<const Bytes>(parts)), ContentDigest(whole));
  EXPECT_EQ(ContentDigest(Span<const Bytes>()), ContentDigest(Bytes()));
}

TEST(ContentDigest, EqualsPypiBlake3) {
  const struct {
    size_t length;
    const char* digest;
  } cases[] = {
      {0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"},
      {1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"},
      {1023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11"},
      {1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"},
      {1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"},
      {2049, "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030"},
      {31744, "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47"},
      {1000000, "5e82c663d164c54e4fcdfcd70e3ca464662228bdbad45cce2e0c2bff999064ef"},
  };
  for (const auto& item : cases) {
    std::vector<uint8_t> bytes(item.length);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i % 251);
    EXPECT_EQ(HexOf(ContentDigest(bytes)), item.digest) << item.length;
    EXPECT_EQ(test::Hex(ContentHash(bytes)), std::string(item.digest).substr(0, 16)) << item.length;
  }
}

}  // namespace
}  // namespace mmcpp
