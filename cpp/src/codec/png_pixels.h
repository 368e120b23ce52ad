// From the inflated stream of a PNG to pixels, group of rows by group of rows, and how stream and
// picture share memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/png_chunks.h"
#include "codec/png_layout.h"
#include "codec/png_rows.h"
#include "mmcpp/image.h"
#include "mmcpp/tensor.h"
#include "simd/dispatch.h"

namespace mmcpp::codec {

/// Where the inflated stream and the pixels lie.
struct PngMemory {
  Buffer buffer;  // of the stream, and of the pixels too if `shared`
  uint8_t* stream = nullptr;
  size_t stream_size = 0;
  bool shared = false;

  /// Shared memory starts with the pixels and ends with the stream. Pixels are written in order, a
  /// group of rows after the group was read, and never reach a row of the stream before its turn:
  /// where rows of the stream are the shorter ones, because both end together; where they are the
  /// longer ones, because the stream starts a group later.
  static Result<PngMemory> Allocate(const PngHeader& header, const std::vector<PngPass>& passes,
                                    size_t channels, bool may_share);
};

/// The rows of one pass of the inflated stream, in order, as PngRows has them.
class PngPassReader {
 public:
  PngPassReader(const uint8_t* stream, const PngPass& pass, const simd::Kernels* kernels,
                PngRows* rows);

  /// Writes the next `count` rows, at most simd::kPngRows. Rows that the stream, which is there up
  /// to `end`, ends before are made of no data. They may overwrite the stream up to the first row
  /// after them.
  Status Read(size_t count, const uint8_t* end, uint8_t* const* rgb);

  /// Whether all of the next `count` rows are there.
  bool Has(size_t count, const uint8_t* end) const {
    return static_cast<size_t>(end - next_) >= count * (pass_.row_bytes + 1);
  }
  const uint8_t* next() const { return next_; }

 private:
  const uint8_t* next_;  // row of the stream
  PngPass pass_;
  const simd::Kernels* kernels_;
  PngRows* rows_;
  std::vector<uint8_t> spare_;  // the row above a group of rows, and the group
  size_t y_ = 0;
};

/// Writes the picture while its stream is inflated. Borrows everything.
class PngPixelWriter {
 public:
  /// `stream` may lie in the memory of the pixels; see PngMemory.
  PngPixelWriter(const PngHeader& header, const std::vector<PngPass>& passes, const uint8_t* stream,
                 const simd::Kernels* kernels, PngRows* rows, uint8_t* pixels);

  /// Writes groups of rows that are there when the stream is up to `end`, into the first `limit`
  /// bytes of the picture.
  Status WriteUpTo(const uint8_t* end, size_t limit) { return Write(end, limit, false); }
  /// Writes all other rows, and what is around a part of the canvas. The stream is there up to
  /// `end`; rows after that are made of no data.
  Status WriteRest(const uint8_t* end) { return Write(end, 0, true); }

 private:
  Status Write(const uint8_t* end, size_t limit, bool rest);
  Status WriteGroup(const PngPass& pass, size_t count, const uint8_t* end);
  uint8_t* At(size_t y, size_t x) const { return pixels_ + (y * header_.width + x) * channels_; }

  const PngHeader& header_;
  Span<const PngPass> passes_;  // from the present one on
  const simd::Kernels* kernels_;
  PngRows* rows_;
  size_t channels_;
  uint8_t* pixels_;
  PngPassReader reader_;
  size_t y_ = 0;                // of the pass
  std::vector<uint8_t> apart_;  // rows whose pixels stand apart in the picture
};

/// Whether the pixels are a part of the canvas.
bool IsInPart(const PngHeader& header);

}  // namespace mmcpp::codec
