// Pictures pasted on canvases, pixel by pixel: what the one-pass code is compared with.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "mmcpp/image.h"
#include "mmcpp/resize.h"
#include "resample/canvas.h"

namespace mmcpp::test {

/// `image` resized and pasted on the canvas.
inline Image Pasted(const ImageView& image, const resample::Canvas& canvas, Filter filter,
                    Convention convention) {
  const resample::Window& at = canvas.picture;
  const auto resized = Resize(image, at.height, at.width, filter, convention);
  auto out = Image::Allocate(canvas.height, canvas.width);
  EXPECT_TRUE(resized.ok() && out.ok());
  for (int y = 0; y < canvas.height; ++y) {
    for (int x = 0; x < canvas.width; ++x) {
      const bool inside = y >= at.y && y < at.y + at.height && x >= at.x && x < at.x + at.width;
      std::memcpy(out->row(y) + 3 * static_cast<std::ptrdiff_t>(x),
                  inside ? resized->row(y - at.y) + 3 * static_cast<std::ptrdiff_t>(x - at.x)
                         : canvas.color.data(),
                  3);
    }
  }
  return *std::move(out);
}

}  // namespace mmcpp::test
