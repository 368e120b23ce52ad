// Which format bytes are, by content alone: labels and file names never matter.
#pragma once

#include "mmcpp/image.h"

namespace mmcpp::codec {

/// The format that the first bytes announce, by the marks Pillow 13 goes by. A decoder may still
/// find the rest damaged.
/// Errors: kInvalidArgument for no bytes; kUnsupported for everything else, naming what the bytes
/// are if that is known (TIFF, HEIC, an HTML page, text, ...).
Result<ImageFormat> SniffFormat(Bytes encoded);

}  // namespace mmcpp::codec
