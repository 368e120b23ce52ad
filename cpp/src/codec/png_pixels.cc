// Unfilters and converts a group of rows while it is in the cache.
#include "codec/png_pixels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/ensure.h"

namespace mmcpp::codec {

bool IsInPart(const PngHeader& header) {
  return header.region &&
         (header.region->height < header.height || header.region->width < header.width);
}

Result<PngMemory> PngMemory::Allocate(const PngHeader& header, const std::vector<PngPass>& passes,
                                      size_t channels, bool may_share) {
  PngMemory memory;
  size_t stream_size = 0;
  for (const PngPass& pass : passes) stream_size += pass.height * (pass.row_bytes + 1);
  const size_t row_bytes = size_t{header.width} * channels;
  const size_t pixel_size = row_bytes * header.height;
  const PngPass& first = passes.front();
  const bool in_order =
      first.dx == 1 && first.height == header.height && first.width == header.width;
  const size_t lead = first.row_bytes + 1 > row_bytes
                          ? row_bytes * std::min<size_t>(first.height, simd::kPngRows)
                          : 0;
  // Much longer streams would stay with the picture as waste.
  memory.shared = may_share && in_order && stream_size + lead <= pixel_size * 2;
  const size_t size = memory.shared ? std::max(stream_size + lead, pixel_size) : stream_size;
  MMCPP_ASSIGN(memory.buffer, Buffer::Allocate(size));
  memory.stream = memory.buffer.data() + (size - stream_size);
  memory.stream_size = stream_size;
  return memory;
}

PngPassReader::PngPassReader(const uint8_t* stream, const PngPass& pass,
                             const simd::Kernels* kernels, PngRows* rows)
    : next_(stream),
      pass_(pass),
      kernels_(kernels),
      rows_(rows),
      spare_(pass.row_bytes * (rows->IsPlain() ? 1 : simd::kPngRows + 1)) {}

Status PngPassReader::Read(size_t count, const uint8_t* end, uint8_t* const* rgb) {
  const size_t row_size = pass_.row_bytes + 1;
  const size_t present = std::min(count, static_cast<size_t>(end - next_) / row_size);
  const size_t pixel_bytes = std::max<size_t>(rows_->bits_per_pixel() / 8, 1);
  // Rows that are pixels already are unfiltered where they belong, others in spare ones.
  const bool direct = rows_->IsPlain();
  uint8_t* above = spare_.data();
  std::array<const uint8_t*, simd::kPngRows> filtered;
  std::array<uint8_t*, simd::kPngRows> rows;
  for (size_t i = 0; i < present; ++i) {
    filtered[i] = next_ + i * row_size;
    rows[i] = direct ? rgb[i] : spare_.data() + (i + 1) * pass_.row_bytes;
    if (filtered[i][0] > 4) {
      return CorruptInput("png: row " + std::to_string(y_ + i) + " of " +
                          std::to_string(pass_.height) + " has filter " +
                          std::to_string(filtered[i][0]));
    }
  }
  if (present > 0) {
    kernels_->png_unfilter(present, pass_.row_bytes, pixel_bytes, filtered.data(), above,
                           rows.data());
    std::memcpy(above, rows[present - 1], pass_.row_bytes);
  }
  if (!direct) {
    for (size_t i = 0; i < present; ++i) rows_->Convert(rows[i], pass_.width, rgb[i]);
  }
  for (size_t i = present; i < count; ++i) rows_->Convert(nullptr, pass_.width, rgb[i]);
  next_ += present * row_size;
  y_ += count;
  return Ok{};
}

PngPixelWriter::PngPixelWriter(const PngHeader& header, const std::vector<PngPass>& passes,
                               const uint8_t* stream, const simd::Kernels* kernels, PngRows* rows,
                               uint8_t* pixels)
    : header_(header),
      passes_(passes),
      kernels_(kernels),
      rows_(rows),
      channels_(rows->channels()),
      pixels_(pixels),
      reader_(stream, passes.front(), kernels, rows) {}

Status PngPixelWriter::Write(const uint8_t* end, size_t limit, bool rest) {
  if (IsInPart(header_)) {
    // Not before the file turned out to be sound: the canvas may be far larger.
    if (!rest) return Ok{};
    for (size_t y = 0; y < header_.height; ++y) rows_->Convert(nullptr, header_.width, At(y, 0));
  }
  while (!passes_.empty()) {
    const PngPass& pass = passes_[0];
    const size_t count = std::min<size_t>(simd::kPngRows, pass.height - y_);
    const size_t last = pass.y0 + (y_ + count - 1) * pass.dy;
    if (!rest && (!reader_.Has(count, end) || (last + 1) * header_.width * channels_ > limit))
      break;
    MMCPP_TRY(WriteGroup(pass, count, end));
    y_ += count;
    if (y_ < pass.height) continue;
    passes_ = passes_.subspan(1, passes_.size() - 1);
    if (!passes_.empty()) reader_ = PngPassReader(reader_.next(), passes_[0], kernels_, rows_);
    y_ = 0;
  }
  return Ok{};
}

Status PngPixelWriter::WriteGroup(const PngPass& pass, size_t count, const uint8_t* end) {
  const auto place = [&](size_t i) { return At(pass.y0 + (y_ + i) * pass.dy, pass.x0); };
  std::array<uint8_t*, simd::kPngRows> rgb = {};
  if (pass.dx > 1) apart_.resize(pass.width * channels_ * simd::kPngRows);
  for (size_t i = 0; i < count; ++i) {
    rgb[i] = pass.dx > 1 ? apart_.data() + i * pass.width * channels_ : place(i);
  }
  MMCPP_TRY(reader_.Read(count, end, rgb.data()));
  for (size_t i = 0; pass.dx > 1 && i < count; ++i) {
    uint8_t* out = place(i);
    for (size_t x = 0; x < pass.width; ++x, out += pass.dx * channels_) {
      std::memcpy(out, rgb[i] + channels_ * x, channels_);
    }
  }
  return Ok{};
}

}  // namespace mmcpp::codec
