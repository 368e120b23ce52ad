// What Pillow 13 makes of the fuzz seeds: tests/golden/decode_*.json, written by
// tests/fuzz/generate_seeds.py.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/ensure.h"
#include "codec/color.h"
#include "codec/decode.h"
#include "codec/formats.h"
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

/// Rows read a few at a time must be what DecodeImage makes of the same bytes, or end in its error.
inline void CheckRows(Bytes bytes, const DecodeOptions& options, const Result<Image>& want) {
  for (const int rows_at_once : {1, 7, 16, 50, 1 << 20}) {
    SCOPED_TRACE(rows_at_once);
    const auto read = [&]() -> Result<Image> {
      MMCPP_ASSIGN(const codec::OpenedImage opened, codec::OpenImage(bytes, options));
      RowSource* rows = opened.rows.get();
      MMCPP_ASSIGN(Image image, Image::Allocate(rows->height(), rows->width(), rows->channels()));
      // What was read before is nobody's to look at again.
      std::vector<uint8_t> strip(image.row_bytes() + 5);
      for (int y = 0; y < image.height();) {
        const int n = std::min(rows_at_once, image.height() - y);
        strip.assign((image.row_bytes() + 5) * static_cast<size_t>(n), 0xcd);
        MMCPP_TRY(rows->Read(n, strip.data(), image.row_bytes() + 5));
        for (int i = 0; i < n; ++i, ++y) {
          std::memcpy(image.row(y), strip.data() + static_cast<size_t>(i) * (image.row_bytes() + 5),
                      image.row_bytes());
        }
      }
      return image;
    };
    const auto got = read();
    ASSERT_EQ(got.ok(), want.ok());
    if (!want.ok()) {
      EXPECT_EQ(got.error().message, want.error().message);
      EXPECT_EQ(got.error().code, want.error().code);
      continue;
    }
    EXPECT_EQ(got->height(), want->height());
    EXPECT_EQ(got->width(), want->width());
    EXPECT_EQ(got->channels(), want->channels());
    EXPECT_EQ(Digest(*got), Digest(*want));
  }
}

/// Pixels with their alpha must be what `info` lets one expect, and give what the other modes do.
inline void CheckKeptAlpha(Bytes bytes, const ImageInfo& info) {
  DecodeOptions keep, composite;
  keep.alpha = AlphaMode::kKeep;
  composite.alpha = AlphaMode::kComposite;
  const auto kept = DecodeImage(bytes, keep);
  CheckRows(bytes, keep, kept);
  const bool behind = info.format == ImageFormat::kPng && codec::HasPngTransparency(bytes);
  const bool has_alpha = (info.has_alpha || behind) && info.mode != "RGB";
  const auto want = DecodeImage(bytes, has_alpha ? composite : DecodeOptions());
  ASSERT_EQ(kept.ok(), want.ok());
  if (!kept.ok()) return;
  ASSERT_EQ(kept->channels(), has_alpha ? 4 : 3);
  if (!has_alpha) {
    EXPECT_EQ(Digest(*kept), Digest(*want));
    return;
  }
  for (const AlphaMode mode : {AlphaMode::kComposite, AlphaMode::kDrop}) {
    DecodeOptions options;
    options.alpha = mode;
    const auto rgb = DecodeImage(bytes, options);
    ASSERT_TRUE(rgb.ok());
    Image laid = Image::Allocate(kept->height(), kept->width()).value();
    codec::RgbaRowToRgb(kept->data(), kept->row_bytes() / 4 * static_cast<size_t>(kept->height()),
                        options, laid.data());
    EXPECT_EQ(Digest(laid), Digest(*rgb));
  }
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
      const auto refused = DecodeImage(bytes);
      EXPECT_FALSE(refused.ok());
      CheckRows(bytes, {}, refused);
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
    CheckKeptAlpha(bytes, *info);
    for (const auto& [profile, digest] : want.at("rgb").items()) {
      const DecodeOptions options = DecodeProfile(profile).value();
      const auto image = DecodeImage(bytes, options);
      CheckRows(bytes, options, image);
      const std::string message = image.ok() ? "" : image.error().message;
      const std::string expected =
          digest.is_null() ? "" : digest.get<std::string>();  // null: refused
      EXPECT_EQ(image.ok() ? Digest(*image) : "", expected) << profile << ": " << message;
    }
  }
  return count;
}

}  // namespace mmcpp::test
