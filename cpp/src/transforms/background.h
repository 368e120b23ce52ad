// What a picture with transparency is laid over.
#pragma once

#include <cstdint>

#include "mmcpp/image.h"
#include "mmcpp/status.h"

namespace mmcpp::transforms {

enum class BackgroundPattern : uint8_t {
  kNone,   ///< alpha goes, colours stay
  kWhite,  ///< 255
  kBlack,  ///< 0
  kGray,   ///< 128
  kChessboard,
};

struct Background {
  BackgroundPattern pattern = BackgroundPattern::kNone;
  // Of a chessboard alone.
  int square_size = 16;            ///< pixels, positive
  bool square_on_top_left = true;  ///< the first square is of `white`, else of `gray`
  uint8_t white = 255, gray = 200;
};

/// Writes `rgba`, of four channels, laid over the background's rows from `first_row` on into memory
/// of its size:
/// floor(alpha * colour + (1 - alpha) * background) in float32, alpha being a byte / 255. Equals
/// fill_transparent_bg of sglang 0.5.23 with torch 2.13 on a CPU. kInvalidArgument for another
/// number of channels, another size or squares of no size.
Status LayOver(const ImageView& rgba, const Background& background, const ImageSpan& rgb,
               int first_row = 0);

}  // namespace mmcpp::transforms
