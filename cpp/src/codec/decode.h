// Decoding row by row, for who needs no whole picture; mmcpp/image.h has the rest.
#pragma once

#include <memory>

#include "base/stop.h"
#include "mmcpp/image.h"

namespace mmcpp::codec {

struct OpenedImage {
  ImageInfo info;
  std::unique_ptr<RowSource> rows;
};

/// What DecodeImage gives, row by row where the format and the orientation allow it, else decoded
/// as a whole here. Errors are DecodeImage's, now or while rows are read. `encoded` must outlive
/// the rows. `stop` ends the part that is done here, with kCancelled or kDeadlineExceeded; between
/// rows the caller may look for itself.
Result<OpenedImage> OpenImage(Bytes encoded, const DecodeOptions& options, const Stop& stop = {});

}  // namespace mmcpp::codec
