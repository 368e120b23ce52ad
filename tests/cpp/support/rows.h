// Rows for tests of what takes them one after another.
#pragma once

#include <cstring>
#include <string>

#include "base/ensure.h"
#include "mmcpp/image.h"

namespace mmcpp::test {

/// A picture's rows, none of which can be had twice; reading fails beyond the first `readable`.
class OneByOne final : public RowSource {
 public:
  explicit OneByOne(const ImageView& view) : OneByOne(view, view.height) {}
  OneByOne(const ImageView& view, int readable)
      : RowSource(view.height, view.width), view_(view), readable_(readable) {}

  Status Read(int rows, uint8_t* dst, size_t row_bytes) override {
    MMCPP_ENSURE(rows > 0 && rows <= left());
    if (y_ + rows > readable_) return CorruptInput("rows: end at " + std::to_string(readable_));
    for (int i = 0; i < rows; ++i, dst += row_bytes) {
      std::memcpy(dst, view_.row(y_++), static_cast<size_t>(width()) * 3);
    }
    return Ok{};
  }
  int left() const { return height() - y_; }

 private:
  ImageView view_;
  int readable_;
  int y_ = 0;
};

}  // namespace mmcpp::test
