// What every layer does with rows that come one after another: pictures in memory offered as such
// rows, and rows gathered into a picture.
#pragma once

#include <utility>

#include "mmcpp/image.h"
#include "mmcpp/status.h"

namespace mmcpp {

/// The rows of a picture in memory, owned or borrowed.
class WholeRows final : public RowSource {
 public:
  explicit WholeRows(const ImageView& view)
      : RowSource(view.height, view.width, view.channels), view_(view) {}
  explicit WholeRows(Image image)
      : RowSource(image.height(), image.width(), image.channels()),
        image_(std::move(image)),
        view_(image_) {}

  const ImageView* whole() const noexcept override { return &view_; }
  Status Read(int rows, uint8_t* dst, size_t row_bytes) override;

 private:
  Image image_;
  ImageView view_;
  int y_ = 0;
};

/// Reads all rows of a source of which none was read.
Result<Image> ReadAll(RowSource* rows);

}  // namespace mmcpp
