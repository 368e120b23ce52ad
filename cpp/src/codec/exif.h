// What is needed of a picture's metadata: its orientation, by the rules of Pillow 13's
// ImageOps.exif_transpose, and the number of pictures of a multi-picture file.
#pragma once

#include "mmcpp/span.h"

namespace mmcpp::codec {

/// The orientation 1..8 that EXIF bytes say (with or without "Exif\0\0" before them, once or
/// twice), or, if their directory can be read and has none, the first tiff:Orientation of the XMP
/// packet. 1 when there is none, or it cannot be read, or it is out of range. Either may be empty.
int ReadOrientation(Bytes exif, Bytes xmp);

/// ReadOrientation of EXIF alone.
inline int OrientationFromExif(Bytes exif) { return ReadOrientation(exif, {}); }

/// The number of pictures that a JPEG's multi-picture index (CIPA DC-007, after "MPF\0") lists; 1
/// when Pillow 13 would take the file for a plain JPEG.
int CountOfMultiPicture(Bytes index);

}  // namespace mmcpp::codec
