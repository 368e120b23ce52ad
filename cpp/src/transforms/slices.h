// How MiniCPM-V slices a picture. Pure arithmetic on sizes.
#pragma once

#include "mmcpp/status.h"
#include "transforms/size_rules.h"
#include "transforms/tile_grids.h"

namespace mmcpp::transforms {

struct SliceRule {
  int scale_resolution = 448;  ///< side of the square whose area a slice is to have, in pixels
  int max_slices = 9;
  int unit = 14;  ///< sides become multiples of it, in pixels
};

struct SlicedSize {
  Size source;  ///< the picture as a whole
  Grid grid;    ///< of slices; 0 x 0 if there are none
  Size slice;
};

/// The picture as a whole and, if it has more than one slice's area, the grid of slices whose
/// aspect ratio is closest by its logarithm. Equals transforms of transformers 5.24's MiniCPMV4_6
/// image processors and of the code of MiniCPM-V 2.6. kInvalidArgument for an empty picture or
/// values of the rule below 1, or over 8192, 1024 slices.
Result<SlicedSize> SlicePicture(int height, int width, const SliceRule& rule);

}  // namespace mmcpp::transforms
