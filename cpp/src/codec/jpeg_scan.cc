// The entropy-coded data of a baseline scan. Stuffed bytes are taken out in front of the kernel, a
// window of the data at a time, so that its loop need not look for them; behind the last byte the
// window has zeros for as much as one MCU may read before the end is noticed.
#include "codec/jpeg_scan.h"

#include <algorithm>
#include <cstring>

#include "codec/jpeg_huffman.h"

namespace mmcpp::codec {
namespace {

constexpr uint8_t kEndOfImage = 0xd9;

bool SameTable(const JpegHuffmanSpec& a, const JpegHuffmanSpec& b) { return a.counts == b.counts; }

/// A table for more bits takes microseconds more to build, and a third of a percent of a decode of
/// 512 x 512 pixels.
uint32_t AcBits(const JpegFrame& frame) {
  const bool small = int64_t{frame.height} * frame.width < int64_t{512} * 512;
  return small ? simd::kJpegMinAcBits : simd::kJpegMaxAcBits;
}

}  // namespace

std::unique_ptr<JpegScanReader> JpegScanReader::Create(Bytes encoded, const JpegFrame& frame,
                                                       const simd::Kernels& kernels) {
  std::unique_ptr<JpegScanReader> reader(new JpegScanReader(encoded, frame, kernels));
  if (!reader->BuildTables(frame)) return nullptr;
  return reader;
}

JpegScanReader::JpegScanReader(Bytes encoded, const JpegFrame& frame, const simd::Kernels& kernels)
    : encoded_(encoded),
      kernels_(kernels),
      at_(frame.scan),
      window_end_(window_),
      restart_interval_(static_cast<uint32_t>(frame.restart_interval)),
      interval_left_(restart_interval_) {
  scan_.next = window_;
  Fill();
}

bool JpegScanReader::BuildTables(const JpegFrame& frame) {
  const size_t count = static_cast<size_t>(frame.components);
  scan_.ac_bits = AcBits(frame);
  for (size_t c = 0; c < count; ++c) {
    const JpegFrame::Component& component = frame.component[c];
    simd::JpegScanComponent* to = &scan_.component[c];
    for (size_t k = 0; k < 64; ++k) {
      const int quantiser = std::max<int>((*component.quantisers)[k], 1);
      limits_[c][k] = static_cast<uint16_t>(simd::kJpegMaxCoefficient / quantiser);
    }
    to->limits = limits_[c];
    to->dc_limit = limits_[c][0];
    for (size_t other = 0; other < c && to->dc == nullptr; ++other) {
      if (SameTable(frame.component[other].dc, component.dc)) to->dc = scan_.component[other].dc;
    }
    for (size_t other = 0; other < c && to->ac == nullptr; ++other) {
      if (SameTable(frame.component[other].ac, component.ac)) to->ac = scan_.component[other].ac;
    }
    if (to->dc == nullptr) {
      dc_[c] = std::make_unique<simd::JpegDcTable>();
      if (!BuildDcTable(component.dc, dc_[c].get())) return false;
      to->dc = dc_[c].get();
    }
    if (to->ac != nullptr) continue;
    int max_quantiser = 0;
    for (size_t other = c; other < count; ++other) {
      if (!SameTable(frame.component[other].ac, component.ac)) continue;
      const auto& quantisers = *frame.component[other].quantisers;
      max_quantiser =
          std::max<int>(max_quantiser, *std::max_element(quantisers.begin() + 1, quantisers.end()));
    }
    ac_[c] = std::make_unique<simd::JpegAcTable>();
    if (!BuildAcTable(component.ac, max_quantiser, scan_.ac_bits, ac_[c].get())) return false;
    to->ac = ac_[c].get();
  }
  return true;
}

/// Copies bytes of the scan to [to, end) until there is no room or no more of them; where it ended.
uint8_t* JpegScanReader::FillTo(uint8_t* to, uint8_t* end) {
  while (to < end) {
    const size_t count = std::min(static_cast<size_t>(end - to), encoded_.size() - at_);
    const uint8_t* from = encoded_.data() + at_;
    const void* found = count == 0 ? nullptr : std::memchr(from, 0xff, count);
    const size_t plain =
        found == nullptr ? count : static_cast<size_t>(static_cast<const uint8_t*>(found) - from);
    if (plain > 0) std::memcpy(to, from, plain);
    to += plain;
    at_ += plain;
    if (found == nullptr) {
      ended_ = at_ == encoded_.size();
      return to;
    }
    if (encoded_.size() - at_ < 2 || from[plain + 1] != 0) {
      ended_ = true;
      marker_ = encoded_.size() - at_ < 2 ? kNoMarker : from[plain + 1];
      return to;
    }
    *to++ = 0xff;
    at_ += 2;
  }
  return to;
}

void JpegScanReader::Fill() {
  const size_t left = static_cast<size_t>(window_end_ - scan_.next);
  std::memmove(window_, scan_.next, left);
  scan_.next = window_;
  window_end_ = FillTo(window_ + left, window_ + kWindowBytes);
  if (ended_) {
    // The eight bytes of a look into the bit buffer may be over the end, and of no account.
    std::memset(window_end_, 0, 8 + kSpareBytes);
    scan_.safe_end = window_end_ + 8;
  } else {
    scan_.safe_end = window_end_ - kSpareBytes;
  }
}

/// Negative if bits were taken that are not there.
ptrdiff_t JpegScanReader::BitsLeft() const {
  return (window_end_ - scan_.next) * 8 + static_cast<ptrdiff_t>(scan_.bits);
}

bool JpegScanReader::AtMarker(uint8_t marker) {
  if (BitsLeft() < 0) return false;
  if (!ended_) Fill();
  // What is left of the last byte is padding. libjpeg skips whole bytes too, but that is odd.
  return ended_ && marker_ == marker && BitsLeft() < 8;
}

bool JpegScanReader::StartInterval() {
  if (!AtMarker(next_restart_)) return false;
  next_restart_ = static_cast<uint8_t>(0xd0 | ((next_restart_ + 1) & 7));
  at_ += 2;
  ended_ = false;
  marker_ = kNoMarker;
  window_end_ = window_;
  scan_.next = window_;
  scan_.buffer = 0;
  scan_.bits = 0;
  for (auto& component : scan_.component) component.last_dc = 0;
  interval_left_ = restart_interval_;
  Fill();
  return true;
}

bool JpegScanReader::Decode(uint32_t first, uint32_t end) {
  while (first < end) {
    if (restart_interval_ > 0 && interval_left_ == 0 && !StartInterval()) return false;
    uint32_t count = end - first;
    if (restart_interval_ > 0) count = std::min(count, interval_left_);
    const int32_t done = kernels_.jpeg_decode_mcus(&scan_, first, first + count);
    if (done < 0) return false;
    first += static_cast<uint32_t>(done);
    if (restart_interval_ > 0) interval_left_ -= static_cast<uint32_t>(done);
    if (static_cast<uint32_t>(done) == count) continue;
    if (ended_) return false;
    Fill();
  }
  return BitsLeft() >= 0;
}

bool JpegScanReader::AtEnd() { return AtMarker(kEndOfImage); }

}  // namespace mmcpp::codec
