// Carriers of RGB8 pixels: owned, and row by row.
#include "mmcpp/image.h"

#include <cstring>
#include <utility>

#include "base/ensure.h"
#include "base/row_source.h"

namespace mmcpp {

namespace {

/// Bytes of a picture.
Result<size_t> SizeOf(int height, int width, int channels) {
  if (height <= 0 || width <= 0) {
    return InvalidArgument("image: sides must be positive, got " + std::to_string(height) + "x" +
                           std::to_string(width));
  }
  if (channels != 3 && channels != 4) {
    return InvalidArgument("image: expected 3 or 4 channels, got " + std::to_string(channels));
  }
  return static_cast<size_t>(height) * static_cast<size_t>(width) * static_cast<size_t>(channels);
}

}  // namespace

Result<Image> Image::Allocate(int height, int width, int channels) {
  MMCPP_ASSIGN(const size_t size, SizeOf(height, width, channels));
  Image image;
  MMCPP_ASSIGN(image.buffer_, Buffer::Allocate(size));
  image.height_ = height;
  image.width_ = width;
  image.channels_ = channels;
  return image;
}

Result<Image> Image::Adopt(Buffer buffer, int height, int width, int channels) {
  MMCPP_ASSIGN(const size_t size, SizeOf(height, width, channels));
  if (buffer.size() < size) {
    return InvalidArgument("image: " + std::to_string(buffer.size()) + " bytes for " +
                           std::to_string(height) + "x" + std::to_string(width));
  }
  buffer.Truncate(size);
  Image image;
  image.buffer_ = std::move(buffer);
  image.height_ = height;
  image.width_ = width;
  image.channels_ = channels;
  return image;
}

RowSource::~RowSource() = default;

Status RowSource::StillWanted() const { return Ok{}; }

Status WholeRows::Read(int rows, uint8_t* dst, size_t row_bytes) {
  MMCPP_ENSURE(rows <= height() - y_);
  for (int i = 0; i < rows; ++i, dst += row_bytes) {
    std::memcpy(dst, view_.row(y_++), dense_row_bytes());
  }
  return Ok{};
}

Result<Image> ReadAll(RowSource* rows) {
  MMCPP_ASSIGN(Image image, Image::Allocate(rows->height(), rows->width(), rows->channels()));
  MMCPP_TRY(rows->Read(image.height(), image.data(), image.row_bytes()));
  return image;
}

}  // namespace mmcpp
