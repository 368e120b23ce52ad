// Image: owned RGB8 pixels.
#include "mmcpp/image.h"

#include <utility>

#include "base/ensure.h"

namespace mmcpp {

Result<Image> Image::Allocate(int height, int width) {
  if (height <= 0 || width <= 0) {
    return InvalidArgument("image: sides must be positive, got " + std::to_string(height) + "x" +
                           std::to_string(width));
  }
  Image image;
  MMCPP_ASSIGN(image.buffer_,
               Buffer::Allocate(static_cast<size_t>(height) * static_cast<size_t>(width) * 3));
  image.height_ = height;
  image.width_ = width;
  return image;
}

Result<Image> Image::Adopt(Buffer buffer, int height, int width) {
  if (height <= 0 || width <= 0) {
    return InvalidArgument("image: sides must be positive, got " + std::to_string(height) + "x" +
                           std::to_string(width));
  }
  const size_t size = static_cast<size_t>(height) * static_cast<size_t>(width) * 3;
  if (buffer.size() < size) {
    return InvalidArgument("image: " + std::to_string(buffer.size()) + " bytes for " +
                           std::to_string(height) + "x" + std::to_string(width));
  }
  buffer.Truncate(size);
  Image image;
  image.buffer_ = std::move(buffer);
  image.height_ = height;
  image.width_ = width;
  return image;
}

}  // namespace mmcpp
