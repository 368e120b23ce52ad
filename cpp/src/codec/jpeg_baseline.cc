// Rows of a plain baseline JPEG: coefficients of a few MCUs at a time, samples of a row of MCUs,
// and RGB from them row by row.
#include "codec/jpeg_baseline.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "codec/jpeg_frame.h"
#include "codec/jpeg_scan.h"
#include "simd/dispatch.h"

namespace mmcpp::codec {
namespace {

constexpr int kChunk =
    8;  // MCUs whose coefficients are kept; even, for kernels take pairs of blocks
constexpr uint8_t kNatural[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

int CeilDiv(int number, int step) { return (number + step - 1) / step; }

/// The samples of a component from one row above a row of MCUs on, and coefficients for kChunk
/// MCUs.
struct Plane {
  static constexpr size_t kBefore = 64, kBehind = 128;  // samples that kernels may read or write

  int h = 1, v = 1;           // blocks of an MCU
  int height = 0, width = 0;  // samples of the picture
  size_t stride = 0;
  std::vector<uint8_t> samples;
  simd::JpegQuantisers quantisers = {};
  alignas(64) int16_t coefficients[2][(kChunk * 2 + 1) * 64] = {};
  uint8_t last[2][kChunk * 2 + 1] = {};

  /// Row y, which is row y - first of the row of MCUs.
  uint8_t* Row(int y, int first) {
    return samples.data() + static_cast<size_t>(y - first + 1) * stride + kBefore;
  }
};

class Rows final : public BaselineJpeg {
 public:
  Rows(const JpegFrame& frame, const simd::Kernels& kernels, std::unique_ptr<JpegScanReader> reader)
      : kernels_(kernels),
        height_(frame.height),
        width_(frame.width),
        components_(frame.components),
        h_(frame.h),
        v_(frame.v),
        mcu_columns_(CeilDiv(width_, 8 * h_)),
        mcu_rows_(CeilDiv(height_, 8 * v_)),
        reader_(std::move(reader)) {
    for (int c = 0; c < components_; ++c) {
      Plane* plane = &planes_[c];
      plane->h = c == 0 ? h_ : 1;
      plane->v = c == 0 ? v_ : 1;
      plane->height = c == 0 ? height_ : CeilDiv(height_, v_);
      plane->width = c == 0 ? width_ : CeilDiv(width_, h_);
      plane->stride =
          Plane::kBefore + static_cast<size_t>(mcu_columns_ * plane->h) * 8 + Plane::kBehind;
      plane->samples.resize(plane->stride * static_cast<size_t>(1 + 8 * plane->v));
      for (size_t k = 0; k < 64; ++k) {
        plane->quantisers.values[kNatural[k]] = (*frame.component[c].quantisers)[k];
      }
      for (int v = 0; v < plane->v; ++v) {
        for (int h = 0; h < plane->h; ++h) {
          reader_->AddBlock({static_cast<uint32_t>(c), static_cast<uint32_t>(plane->h),
                             plane->coefficients[v] + h * 64, plane->last[v] + h});
        }
      }
    }
  }

  int Read(int rows, uint8_t* dst, size_t row_bytes) override {
    for (int i = 0; i < rows; ++i, ++y_, dst += row_bytes) {
      if (y_ == ready_ && !DecodeMcuRow()) return i;
      EmitRow(y_, dst);
    }
    return rows;
  }

 private:
  /// Samples of the next row of MCUs; sets how many rows of the picture can be had of them.
  bool DecodeMcuRow() {
    for (int c = 0; c < components_; ++c) {
      Plane* plane = &planes_[c];
      std::memcpy(plane->samples.data(),
                  plane->samples.data() + static_cast<size_t>(8 * plane->v) * plane->stride,
                  plane->stride);
    }
    for (int x = 0; x < mcu_columns_; x += kChunk) {
      const int count = std::min(kChunk, mcu_columns_ - x);
      if (!reader_->Decode(0, static_cast<uint32_t>(count)) || !Transform(x, count)) return false;
    }
    if (h_ == 2) {
      RepeatEnds(&planes_[1]);
      RepeatEnds(&planes_[2]);
    }
    const bool is_last = mcu_row_ + 1 == mcu_rows_;
    if (is_last && !reader_->AtEnd()) return false;
    first_ = mcu_row_ * 8 * v_;
    ++mcu_row_;
    // The last row of 4:2:0 takes part of the chroma below it.
    ready_ = is_last ? height_ : first_ + 8 * v_ - (v_ - 1);
    return true;
  }

  bool Transform(int x, int count) {
    int large = 0;
    for (int c = 0; c < components_; ++c) {
      Plane* plane = &planes_[c];
      for (int v = 0; v < plane->v; ++v) {
        large |= kernels_.jpeg_idct(plane->coefficients[v], plane->last[v], &plane->quantisers,
                                    static_cast<size_t>(count * plane->h),
                                    plane->Row(8 * v, 0) + x * plane->h * 8, plane->stride);
      }
    }
    return large == 0;
  }

  void RepeatEnds(Plane* plane) const {
    for (int y = 0; y < 8; ++y) {
      uint8_t* row = plane->Row(y, 0);
      row[-1] = row[0];
      row[plane->width] = row[plane->width - 1];
    }
  }

  void EmitRow(int y, uint8_t* dst) {
    const size_t n = static_cast<size_t>(width_);
    const uint8_t* luma = planes_[0].Row(y, first_);
    if (components_ == 1) return EmitGray(luma, dst);
    Plane* cb = &planes_[1];
    Plane* cr = &planes_[2];
    if (v_ == 1) {
      const auto kernel = h_ == 1 ? kernels_.jpeg_rgb : kernels_.jpeg_rgb_h2v1;
      return kernel(luma, cb->Row(y, first_), cr->Row(y, first_), n, dst);
    }
    // Above the first row of chroma and below the last, jdmainct.c repeats it.
    const int near = y / 2;
    const int far = std::clamp(y % 2 == 0 ? near - 1 : near + 1, 0, cb->height - 1);
    const uint8_t* cb_rows[] = {cb->Row(near, first_ / 2), cb->Row(far, first_ / 2)};
    const uint8_t* cr_rows[] = {cr->Row(near, first_ / 2), cr->Row(far, first_ / 2)};
    kernels_.jpeg_rgb_h2v2(luma, cb_rows, cr_rows, n, dst);
  }

  void EmitGray(const uint8_t* luma, uint8_t* dst) const {
    for (int x = 0; x < width_; ++x, dst += 3) dst[0] = dst[1] = dst[2] = luma[x];
  }

  const simd::Kernels& kernels_;
  const int height_, width_, components_;
  const int h_, v_;
  const int mcu_columns_, mcu_rows_;
  std::unique_ptr<JpegScanReader> reader_;
  Plane planes_[3];
  int mcu_row_ = 0;  // the next
  int first_ = 0;    // row of the picture that is the first of the row of MCUs in `planes_`
  int ready_ = 0;    // rows of the picture above this one can be had
  int y_ = 0;
};

}  // namespace

Result<std::unique_ptr<BaselineJpeg>> BaselineJpeg::Open(Bytes encoded, const JpegHeader& header) {
  MMCPP_ASSIGN(const simd::Kernels* const kernels, simd::ActiveKernels());
  JpegFrame frame;
  if (!ReadJpegFrame(encoded, &frame) || frame.height != header.height ||
      frame.width != header.width) {
    return std::unique_ptr<BaselineJpeg>();
  }
  auto reader = JpegScanReader::Create(encoded, frame, *kernels);
  if (reader == nullptr) return std::unique_ptr<BaselineJpeg>();
  return std::unique_ptr<BaselineJpeg>(std::make_unique<Rows>(frame, *kernels, std::move(reader)));
}

}  // namespace mmcpp::codec
