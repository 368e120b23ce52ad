// The LZW data of a GIF, decoded as Pillow 13.0.0 decodes it: where it stops, what it refuses and
// what it overlooks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/stop.h"
#include "mmcpp/span.h"
#include "mmcpp/status.h"

namespace mmcpp::codec {

/// Where a frame's indices go: one byte a pixel.
struct GifTarget {
  uint8_t* indices = nullptr;  ///< the frame's top left pixel
  size_t row_bytes = 0;        ///< of the canvas, from one row to the next
  size_t height = 0, width = 0;
  bool interlaced = false;
};

/// Decodes the data sub-blocks that start at `offset`, with `code_bits` as the initial code size
/// minus one. kCorruptInput for damaged data and for data that end before the frame is full. `stop`
/// is looked at with every 64 KiB of the file.
Status DecodeGifData(Bytes file, size_t offset, int code_bits, const GifTarget& target,
                     const Stop& stop = {});

}  // namespace mmcpp::codec
