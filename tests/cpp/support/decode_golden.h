// What Pillow 13 makes of the fuzz seeds: tests/golden/decode_*.json, written by
// tests/fuzz/generate_seeds.py.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "mmcpp/image.h"
#include "support/golden.h"

namespace mmcpp::test {

/// A file of tests/fuzz.
inline std::vector<uint8_t> FuzzFile(const std::string& path) {
  std::ifstream file(MMCPP_GOLDEN_DIR "/../fuzz/" + path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// FNV-1a, as the vectors have it.
inline std::string Digest(const Image& image) {
  uint64_t hash = 0xcbf29ce484222325u;
  const size_t size = image.row_bytes() * static_cast<size_t>(image.height());
  for (size_t i = 0; i < size; ++i) hash = (hash ^ image.data()[i]) * 0x100000001b3u;
  char hex[17];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(hash));
  return hex;
}

/// Holds header and pixels of every seed in `folder` against the vectors; how many there were.
inline int CheckGoldenPictures(const std::string& vectors, const std::string& folder) {
  const auto cases = GoldenFile(vectors);
  int count = 0;
  for (const auto& want : cases) {
    const std::string path = want.at("file");
    if (path.find(folder) == std::string::npos) continue;
    SCOPED_TRACE(path);
    ++count;
    const std::vector<uint8_t> bytes = FuzzFile(path);
    if (want.contains("refused")) {
      EXPECT_FALSE(DecodeImage(bytes).ok());
      continue;
    }
    const auto info = ReadImageInfo(bytes);
    EXPECT_TRUE(info.ok()) << info.error().message;
    if (!info.ok()) continue;
    EXPECT_EQ(info->height, want.at("height"));
    EXPECT_EQ(info->width, want.at("width"));
    EXPECT_EQ(info->mode, want.at("mode"));
    EXPECT_EQ(info->frames, want.at("frames"));
    EXPECT_EQ(info->orientation, want.at("orientation"));
    for (const auto& [profile, digest] : want.at("rgb").items()) {
      const auto image = DecodeImage(bytes, DecodeProfile(profile).value());
      const std::string message = image.ok() ? "" : image.error().message;
      const std::string expected =
          digest.is_null() ? "" : digest.get<std::string>();  // null: refused
      EXPECT_EQ(image.ok() ? Digest(*image) : "", expected) << profile << ": " << message;
    }
  }
  return count;
}

}  // namespace mmcpp::test
