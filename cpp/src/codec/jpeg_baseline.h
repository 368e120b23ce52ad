// The decoder of plain baseline JPEGs, which gives the bytes of libjpeg-turbo or gives up.
#pragma once

#include <memory>

#include "codec/jpeg_header.h"
#include "mmcpp/span.h"
#include "mmcpp/status.h"

namespace mmcpp::codec {

class BaselineJpeg {
 public:
  virtual ~BaselineJpeg() = default;

  /// Null if the picture is not plain. `encoded` must outlive the decoder.
  static Result<std::unique_ptr<BaselineJpeg>> Open(Bytes encoded, const JpegHeader& header);

  /// Writes the next rows of RGB8 and says how many. Fewer than asked for: something is odd in the
  /// data, from the next row on the picture is libjpeg-turbo's, and there is nothing more to read.
  /// Of a picture read to its last row everything up to its EOI marker was sound.
  virtual int Read(int rows, uint8_t* dst, size_t row_bytes) = 0;
};

}  // namespace mmcpp::codec
