// Baseline JPEGs of random coefficients: any sampling, size, amplitude and restart interval, under
// Huffman codes of all lengths.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

namespace mmcpp::test {

struct JpegPlan {
  int height = 16, width = 16;
  std::vector<uint8_t> sampling = {0x22, 0x11, 0x11};  // of each component: horizontal, vertical
  int restart_interval = 0;
  int amplitude = 20;      // of coefficients
  int dc_amplitude = 200;  // of DC
  int max_quantiser = 12;
  double density = 0.2;  // of coefficients
  uint32_t seed = 1;
};

class JpegWriter {
 public:
  explicit JpegWriter(const JpegPlan& plan) : plan_(plan), random_(plan.seed) {}

  std::vector<uint8_t> Write() {
    const size_t count = plan_.sampling.size();
    out_ = {0xff, 0xd8, 0xff, 0xe0, 0, 16, 'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0};
    std::vector<uint8_t> quantisers = {0};
    for (int k = 0; k < 64; ++k)
      quantisers.push_back(static_cast<uint8_t>(Below(plan_.max_quantiser) + 1));
    Segment(0xdb, quantisers);
    std::vector<uint8_t> frame = {8,
                                  Byte(plan_.height >> 8),
                                  Byte(plan_.height),
                                  Byte(plan_.width >> 8),
                                  Byte(plan_.width),
                                  Byte(static_cast<int>(count))};
    std::vector<uint8_t> scan = {Byte(static_cast<int>(count))};
    for (size_t c = 0; c < count; ++c) {
      frame.insert(frame.end(), {Byte(static_cast<int>(c) + 1), plan_.sampling[c], 0});
      scan.insert(scan.end(), {Byte(static_cast<int>(c) + 1), 0});
    }
    Segment(0xc0, frame);
    WriteTable(0x00, {0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0}, &dc_);
    WriteTable(0x10, {0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125}, &ac_);
    if (plan_.restart_interval > 0) {
      Segment(0xdd, {Byte(plan_.restart_interval >> 8), Byte(plan_.restart_interval)});
    }
    scan.insert(scan.end(), {0, 63, 0});
    Segment(0xda, scan);
    scan_begin_ = out_.size();
    WriteScan();
    out_.insert(out_.end(), {0xff, 0xd9});
    return out_;
  }

  /// Where the scan's data begin in what was written.
  size_t scan_begin() const { return scan_begin_; }

 private:
  struct Code {
    uint32_t code = 0;
    int bits = 0;
  };

  static uint8_t Byte(int value) { return static_cast<uint8_t>(value); }
  int Below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  bool Chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }

  void Segment(uint8_t marker, const std::vector<uint8_t>& payload) {
    const int length = static_cast<int>(payload.size()) + 2;
    out_.insert(out_.end(), {0xff, marker, Byte(length >> 8), Byte(length)});
    out_.insert(out_.end(), payload.begin(), payload.end());
  }

  /// The symbols that baseline pictures have, in random order.
  void WriteTable(uint8_t number, const std::vector<uint8_t>& counts, std::vector<Code>* codes) {
    std::vector<uint8_t> symbols;
    if (number < 0x10) {
      symbols.resize(12);
      std::iota(symbols.begin(), symbols.end(), uint8_t{0});
    } else {
      symbols = {0x00, 0xf0};
      for (int run = 0; run < 16; ++run) {
        for (int size = 1; size <= 10; ++size) symbols.push_back(Byte(run << 4 | size));
      }
    }
    std::shuffle(symbols.begin(), symbols.end(), random_);
    std::vector<uint8_t> payload = {number};
    payload.insert(payload.end(), counts.begin(), counts.end());
    payload.insert(payload.end(), symbols.begin(), symbols.end());
    Segment(0xc4, payload);
    codes->assign(256, {});
    uint32_t code = 0;
    size_t next = 0;
    for (int bits = 1; bits <= 16; ++bits, code <<= 1) {
      for (int i = 0; i < counts[static_cast<size_t>(bits - 1)]; ++i) {
        (*codes)[symbols[next++]] = {code++, bits};
      }
    }
  }

  void Put(uint32_t value, int count) {
    for (int i = count - 1; i >= 0; --i) {
      bits_ = bits_ << 1 | (value >> i & 1);
      if (++bit_count_ < 8) continue;
      out_.push_back(static_cast<uint8_t>(bits_));
      if (out_.back() == 0xff) out_.push_back(0);
      bits_ = 0;
      bit_count_ = 0;
    }
  }
  void Align() {
    while (bit_count_ > 0) Put(1, 1);
  }

  void PutNumber(const std::vector<Code>& codes, int run, int value) {
    int size = 0;
    while (std::abs(value) >> size > 0) ++size;
    const Code code = codes[static_cast<size_t>(run << 4 | size)];
    Put(code.code, code.bits);
    Put(static_cast<uint32_t>(value < 0 ? value + (1 << size) - 1 : value), size);
  }

  void WriteScan() {
    const size_t count = plan_.sampling.size();
    int h = 1, v = 1;
    for (uint8_t sampling : plan_.sampling) {
      h = std::max(h, sampling >> 4);
      v = std::max(v, sampling & 15);
    }
    if (count == 1) h = v = 1;
    const int columns = (plan_.width + 8 * h - 1) / (8 * h);
    const int rows = (plan_.height + 8 * v - 1) / (8 * v);
    std::vector<int> last(count);
    for (int mcu = 0; mcu < columns * rows; ++mcu) {
      if (plan_.restart_interval > 0 && mcu > 0 && mcu % plan_.restart_interval == 0) {
        Align();
        out_.insert(out_.end(), {0xff, Byte(0xd0 + (mcu / plan_.restart_interval - 1) % 8)});
        last.assign(count, 0);
      }
      for (size_t c = 0; c < count; ++c) {
        const int blocks = count == 1 ? 1 : (plan_.sampling[c] >> 4) * (plan_.sampling[c] & 15);
        for (int b = 0; b < blocks; ++b) WriteBlock(&last[c]);
      }
    }
    Align();
  }

  void WriteBlock(int* last) {
    const int dc = Below(2 * plan_.dc_amplitude + 1) - plan_.dc_amplitude;
    PutNumber(dc_, 0, dc - *last);
    *last = dc;
    // Some blocks are flat, some have low frequencies alone, some everything.
    const int kind = Below(4);
    const int end = kind == 0 ? 1 : kind == 1 ? 10 : 64;
    int run = 0;
    for (int k = 1; k < end; ++k) {
      if (!Chance(plan_.density)) {
        ++run;
        continue;
      }
      for (; run > 15; run -= 16) Put(ac_[0xf0].code, ac_[0xf0].bits);
      const int value = Below(plan_.amplitude) + 1;
      PutNumber(ac_, run, Chance(0.5) ? value : -value);
      run = 0;
    }
    if (run > 0 || end < 64) Put(ac_[0].code, ac_[0].bits);
  }

  const JpegPlan plan_;
  std::mt19937 random_;
  std::vector<uint8_t> out_;
  std::vector<Code> dc_, ac_;
  uint32_t bits_ = 0;
  int bit_count_ = 0;
  size_t scan_begin_ = 0;
};

}  // namespace mmcpp::test
