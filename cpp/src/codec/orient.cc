// Orientation: flips in place, and transposition in blocks that stay in the cache.
#include "codec/orient.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/ensure.h"

namespace mmcpp::codec {
namespace {

template <int kChannels>
struct Pixel {
  uint8_t channels[kChannels];
};
static_assert(sizeof(Pixel<3>) == 3, "a row of RGB8 is an array of Pixel");

template <int kChannels>
Pixel<kChannels>* RowOf(Image& image, int y) {
  return reinterpret_cast<Pixel<kChannels>*>(image.row(y));
}

template <int kChannels>
void MirrorColumns(Image& image) {
  for (int y = 0; y < image.height(); ++y) {
    auto* row = RowOf<kChannels>(image, y);
    std::reverse(row, row + image.width());
  }
}

void MirrorRows(Image& image) {
  for (int top = 0, bottom = image.height() - 1; top < bottom; ++top, --bottom) {
    std::swap_ranges(image.row(top), image.row(top) + image.row_bytes(), image.row(bottom));
  }
}

/// turned[x][y] = image[y][x], with either source axis run backwards.
template <int kChannels>
Result<Image> Transpose(Image& image, bool reverse_x, bool reverse_y) {
  constexpr int kBlock = 32;  // 32x32 pixels: 4 KiB read and written at most
  const int height = image.height(), width = image.width();
  MMCPP_ASSIGN(Image turned, Image::Allocate(width, height, kChannels));
  for (int y0 = 0; y0 < height; y0 += kBlock) {
    const int y1 = std::min(y0 + kBlock, height);
    for (int x0 = 0; x0 < width; x0 += kBlock) {
      const int x1 = std::min(x0 + kBlock, width);
      for (int x = x0; x < x1; ++x) {
        Pixel<kChannels>* out = RowOf<kChannels>(turned, reverse_x ? width - 1 - x : x);
        for (int y = y0; y < y1; ++y) {
          out[reverse_y ? height - 1 - y : y] = RowOf<kChannels>(image, y)[x];
        }
      }
    }
  }
  return turned;
}

template <int kChannels>
Result<Image> Turn(Image image, int orientation) {
  switch (orientation) {
    case 2:
      MirrorColumns<kChannels>(image);
      break;
    case 3:
      MirrorColumns<kChannels>(image);
      MirrorRows(image);
      break;
    case 4:
      MirrorRows(image);
      break;
    case 5:  // transpose
      return Transpose<kChannels>(image, false, false);
    case 6:  // a quarter turn clockwise
      return Transpose<kChannels>(image, false, true);
    case 7:  // transverse
      return Transpose<kChannels>(image, true, true);
    case 8:  // a quarter turn counter-clockwise
      return Transpose<kChannels>(image, true, false);
    default:
      break;
  }
  return image;
}

}  // namespace

Result<Image> ApplyOrientation(Image image, int orientation) {
  return image.channels() == 4 ? Turn<4>(std::move(image), orientation)
                               : Turn<3>(std::move(image), orientation);
}

}  // namespace mmcpp::codec
