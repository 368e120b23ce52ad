// JPEGs of any kind, decoded by libjpeg-turbo.
#pragma once

#include <memory>

#include "base/stop.h"
#include "codec/jpeg_header.h"
#include "mmcpp/image.h"

namespace mmcpp::codec {

/// The rows of a picture whose header was read; the errors are those of Pillow 13. `encoded` must
/// outlive them. Of a progressive picture all scans are read here, and `stop` is looked at for
/// every row of blocks.
Result<std::unique_ptr<RowSource>> OpenTurboJpeg(Bytes encoded, const JpegHeader& header,
                                                 const Stop& stop = {});

}  // namespace mmcpp::codec
