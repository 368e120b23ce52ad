// JPEGs decoded by libjpeg-turbo alone, and what the decoder of this library must make of the same
// bytes.
#pragma once

#include <cstring>
#include <string>

#include "base/ensure.h"
#include "base/row_source.h"
#include "codec/formats.h"
#include "codec/jpeg_baseline.h"
#include "codec/jpeg_turbo.h"

namespace mmcpp::test {

inline Result<Image> DecodeByTurbo(Bytes encoded) {
  MMCPP_ASSIGN(const codec::JpegHeader header, codec::ReadJpegHeader(encoded, true));
  MMCPP_ASSIGN(const auto rows, codec::OpenTurboJpeg(encoded, header));
  return ReadAll(rows.get());
}

/// How codec::DecodeJpeg differs from libjpeg-turbo alone; empty if it does not.
inline std::string DifferenceFromTurbo(Bytes encoded) {
  const auto want = DecodeByTurbo(encoded);
  const auto got = codec::DecodeJpeg(encoded);
  if (got.ok() != want.ok()) {
    return got.ok() ? "not refused: " + want.error().message : "refused: " + got.error().message;
  }
  if (!want.ok()) {
    if (got.error().code == want.error().code && got.error().message == want.error().message)
      return {};
    return "\"" + got.error().message + "\", not \"" + want.error().message + "\"";
  }
  if (got->height() != want->height() || got->width() != want->width()) return "another size";
  for (int y = 0; y < want->height(); ++y) {
    if (std::memcmp(got->row(y), want->row(y), want->row_bytes()) != 0) {
      return "row " + std::to_string(y) + " of " + std::to_string(want->height());
    }
  }
  return {};
}

/// Rows that the decoder of this library gives before it leaves the rest to libjpeg-turbo.
inline int RowsByBaseline(Bytes encoded) {
  const auto header = codec::ReadJpegHeader(encoded, true);
  if (!header.ok()) return 0;
  auto baseline = codec::BaselineJpeg::Open(encoded, *header);
  if (!baseline.ok() || *baseline == nullptr) return 0;
  std::vector<uint8_t> row(static_cast<size_t>(header->width) * 3);
  int rows = 0;
  while (rows < header->height && (*baseline)->Read(1, row.data(), row.size()) == 1) ++rows;
  return rows;
}

}  // namespace mmcpp::test
