// Carriers of RGB8 pixels: owned, and row by row.
#include "mmcpp/image.h"

#include <cstring>
#include <utility>

#include "base/ensure.h"
#include "base/row_source.h"

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

RowSource::~RowSource() = default;

Status WholeRows::Read(int rows, uint8_t* dst, size_t row_bytes) {
  MMCPP_ENSURE(rows <= height() - y_);
  for (int i = 0; i < rows; ++i, dst += row_bytes) {
    std::memcpy(dst, view_.row(y_++), static_cast<size_t>(width()) * 3);
  }
  return Ok{};
}

Result<Image> ReadAll(RowSource* rows) {
  MMCPP_ASSIGN(Image image, Image::Allocate(rows->height(), rows->width()));
  MMCPP_TRY(rows->Read(image.height(), image.data(), image.row_bytes()));
  return image;
}

}  // namespace mmcpp
