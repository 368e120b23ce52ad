// Channel planes. Rows are split into byte planes a cache-sized piece at a time, and each piece
// goes through its table straight to its final place.
#include "transforms/planes.h"

#include <algorithm>
#include <string>

#include "base/ensure.h"

namespace mmcpp::transforms {
namespace {

constexpr size_t kChannels = 3;
constexpr int kPieceWidth = 1024;

Status CheckAligned(const TensorView& out) {
  if (reinterpret_cast<uintptr_t>(out.data) % DTypeSize(out.dtype) != 0) {
    return InvalidArgument("planes: the output is not aligned to its elements");
  }
  return Ok{};
}

bool StripsFit(const PlaneTiles& tiles, const TensorView& out) {
  const auto& shape = out.shape;
  if (tiles.height <= 0 || tiles.width <= 0 || tiles.rows <= 0 || tiles.columns <= 0 ||
      tiles.first != 0 || tiles.strip_height <= 0 || tiles.height % tiles.strip_height != 0 ||
      shape.size() != 4 || shape[0] != 1 || shape[1] != static_cast<int64_t>(kChannels) ||
      shape[2] < tiles.strip_height || tiles.strip_begin < 0 || tiles.strip_begin > shape[3]) {
    return false;
  }
  const int64_t count = int64_t{tiles.rows} * tiles.columns;
  return tiles.strip_width() <= (shape[3] - tiles.strip_begin) / count;
}

Status CheckOut(const PlaneTiles& tiles, const TensorView& out) {
  if (tiles.strip_height != 0) {
    if (!StripsFit(tiles, out)) return InvalidArgument("planes: the strips do not fit the output");
    return CheckAligned(out);
  }
  const auto& shape = out.shape;
  const int64_t end = int64_t{tiles.rows} * tiles.columns + tiles.first;
  const bool fits = tiles.height > 0 && tiles.width > 0 && tiles.rows > 0 && tiles.columns > 0 &&
                    tiles.first >= 0 && shape.size() == 4 && shape[0] >= end &&
                    shape[1] == static_cast<int64_t>(kChannels) && shape[2] >= tiles.height &&
                    shape[3] >= tiles.width;
  if (!fits) {
    return InvalidArgument("planes: the output must have " + std::to_string(end) + " tiles of 3x" +
                           std::to_string(tiles.height) + "x" + std::to_string(tiles.width));
  }
  return CheckAligned(out);
}

}  // namespace

Result<PlaneWriter> PlaneWriter::Make(const PlaneTiles& tiles, const NormTable& table,
                                      TensorView out) {
  MMCPP_TRY(CheckOut(tiles, out));
  PlaneWriter writer;
  MMCPP_ASSIGN(writer.map_, PixelMap::Make(table, out.dtype));
  writer.tiles_ = tiles;
  writer.out_ = static_cast<uint8_t*>(out.data);
  writer.row_bytes_ = static_cast<size_t>(out.shape[3]) * DTypeSize(out.dtype);
  writer.plane_bytes_ = static_cast<size_t>(out.shape[2]) * writer.row_bytes_;
  return writer;
}

// Of a pixel of the canvas in the first plane, in bytes.
size_t PlaneWriter::OffsetOf(int y, int x) const {
  const size_t tile = static_cast<size_t>(tiles_.first) +
                      static_cast<size_t>(y / tiles_.height) * static_cast<size_t>(tiles_.columns) +
                      static_cast<size_t>(x / tiles_.width);
  const size_t row = static_cast<size_t>(y % tiles_.height);
  size_t column = static_cast<size_t>(x % tiles_.width);
  const size_t element = DTypeSize(map_.dtype());
  if (tiles_.strip_height == 0) {
    return tile * kChannels * plane_bytes_ + row * row_bytes_ + column * element;
  }
  const auto strip = static_cast<size_t>(tiles_.strip_height);
  column += static_cast<size_t>(tiles_.strip_begin) +
            tile * static_cast<size_t>(tiles_.strip_width()) +
            row / strip * static_cast<size_t>(tiles_.width);
  return row % strip * row_bytes_ + column * element;
}

void PlaneWriter::WriteRow(int y, int x, int columns, const uint8_t* pixels) const {
  alignas(64) uint8_t planes[kChannels * kPieceWidth];
  while (columns > 0) {
    const int column = x % tiles_.width;
    const int piece = std::min({columns, tiles_.width - column, kPieceWidth});
    const size_t n = static_cast<size_t>(piece);
    map_.Split(pixels, n * kChannels, 1, n, planes);
    uint8_t* const dst = out_ + OffsetOf(y, x);
    for (size_t channel = 0; channel < kChannels; ++channel) {
      map_.Apply(channel, planes + channel * n, n, 1, dst + channel * plane_bytes_);
    }
    x += piece;
    columns -= piece;
    pixels += n * kChannels;
  }
}

void PlaneWriter::Write(const Box& box, const uint8_t* rows, size_t row_bytes) const {
  for (int y = 0; y < box.height; ++y) {
    WriteRow(box.y + y, box.x, box.width, rows + static_cast<size_t>(y) * row_bytes);
  }
}

void PlaneWriter::FillRow(int y, int x, int columns, const std::array<uint8_t, 3>& color) const {
  uint8_t pixels[kChannels * kPieceWidth];
  const int filled = std::min(columns, kPieceWidth);
  for (int i = 0; i < filled; ++i) {
    std::copy(color.begin(), color.end(), pixels + static_cast<size_t>(i) * kChannels);
  }
  for (int done = 0; done < columns; done += kPieceWidth) {
    WriteRow(y, x + done, std::min(columns - done, kPieceWidth), pixels);
  }
}

void PlaneWriter::FillAround(const Box& box, const std::array<uint8_t, 3>& color) const {
  const int height = static_cast<int>(tiles_.canvas_height());
  const int width = static_cast<int>(tiles_.canvas_width());
  for (int y = 0; y < height; ++y) {
    if (y < box.y || y >= box.y + box.height) {
      FillRow(y, 0, width, color);
    } else {
      FillRow(y, 0, box.x, color);
      FillRow(y, box.x + box.width, width - box.x - box.width, color);
    }
  }
}

}  // namespace mmcpp::transforms
