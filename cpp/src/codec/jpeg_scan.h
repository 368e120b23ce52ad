// The entropy-coded data of a baseline scan: bytes without their stuffing, restart intervals, MCUs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "codec/jpeg_frame.h"
#include "simd/kernels_jpeg.h"

namespace mmcpp::codec {

class JpegScanReader {
 public:
  /// Null if a table is one that the decoder does not take. `encoded` must outlive the reader.
  static std::unique_ptr<JpegScanReader> Create(Bytes encoded, const JpegFrame& frame,
                                                const simd::Kernels& kernels);

  /// Another block of every MCU, in their order.
  void AddBlock(const simd::JpegBlock& block) { scan_.block[scan_.blocks++] = block; }

  /// Decodes the MCUs [first, end) of those that the blocks have room for. False: something is odd
  /// in the data so far, and the coefficients are of no account.
  bool Decode(uint32_t first, uint32_t end);

  /// Whether the data end here and as they should, with an EOI marker right behind.
  bool AtEnd();

 private:
  static constexpr size_t kWindowBytes = 16'384;
  static constexpr size_t kSpareBytes = simd::kJpegMaxMcuBytes + 16;
  static constexpr uint8_t kNoMarker = 0;

  JpegScanReader(Bytes encoded, const JpegFrame& frame, const simd::Kernels& kernels);
  bool BuildTables(const JpegFrame& frame);
  void Fill();
  uint8_t* FillTo(uint8_t* to, uint8_t* end);
  ptrdiff_t BitsLeft() const;
  bool AtMarker(uint8_t marker);
  bool StartInterval();

  const Bytes encoded_;
  const simd::Kernels& kernels_;
  size_t at_;           // in `encoded`, of what the window does not have yet
  bool ended_ = false;  // the window has all bytes up to a marker or the end of `encoded`
  uint8_t marker_ = kNoMarker;
  uint8_t* window_end_;
  uint32_t restart_interval_, interval_left_;
  uint8_t next_restart_ = 0xd0;
  simd::JpegScan scan_ = {};
  uint16_t limits_[3][64];
  std::unique_ptr<simd::JpegDcTable> dc_[3];
  std::unique_ptr<simd::JpegAcTable> ac_[3];
  uint8_t window_[kWindowBytes + 8 + kSpareBytes];
};

}  // namespace mmcpp::codec
