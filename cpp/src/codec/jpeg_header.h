// A JPEG's segments up to its first scan.
#pragma once

#include <cstdint>
#include <vector>

#include "mmcpp/span.h"
#include "mmcpp/status.h"

namespace mmcpp::codec {

struct JpegHeader {
  int height = 0;
  int width = 0;
  int components = 0;         ///< 1, 3 or 4
  uint8_t sof = 0;            ///< the frame's marker, 0xc0 to 0xcf
  std::vector<uint8_t> exif;  ///< the payloads of all EXIF segments, joined, "Exif\0\0" first
  Bytes xmp;                  ///< the XMP packet, or nothing
  int frames = 1;             ///< pictures in a multi-picture file (MPO)
  bool has_scan = false;      ///< the walk came to a scan
};

/// Walks the segments as Pillow 13 does when it opens a file, and fails where it fails: damaged
/// lengths, a depth other than 8 bits, a number of components other than 1, 3 and 4, no frame.
/// With `need_scan` false, the bytes may end anywhere after the frame header.
Result<JpegHeader> ReadJpegHeader(Bytes encoded, bool need_scan);

}  // namespace mmcpp::codec
