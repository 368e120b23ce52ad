// The segments of a plain baseline JPEG. Whatever is not plain ends the walk: libjpeg-turbo knows.
#include "codec/jpeg_frame.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace mmcpp::codec {
namespace {

using std::string_view_literals::operator""sv;

Bytes Skip(Bytes bytes, size_t count) { return bytes.subspan(count, bytes.size() - count); }
int BigEndian16(const uint8_t* p) { return p[0] << 8 | p[1]; }

bool StartsWith(Bytes bytes, std::string_view prefix) {
  return bytes.size() >= prefix.size() &&
         std::memcmp(bytes.data(), prefix.data(), prefix.size()) == 0;
}

class Walk {
 public:
  Walk(Bytes encoded, JpegFrame* frame) : encoded_(encoded), frame_(*frame) {}

  bool Run() {
    size_t at = 2;
    while (encoded_.size() - at >= 4 && encoded_[at] == 0xff) {
      const uint8_t code = encoded_[at + 1];
      const size_t length = static_cast<size_t>(BigEndian16(encoded_.data() + at + 2));
      if (length < 2 || encoded_.size() - at - 2 < length) return false;
      const Bytes segment = encoded_.subspan(at + 4, length - 2);
      at += 2 + length;
      if (code == 0xda) {
        frame_.scan = at;
        return HandleScan(segment) && IsPlain();
      }
      if (!Handle(code, segment)) return false;
    }
    return false;
  }

 private:
  bool Handle(uint8_t code, Bytes segment) {
    switch (code) {
      case 0xc0:
      case 0xc1:
        return HandleFrame(segment);
      case 0xc4:
        return HandleHuffman(segment);
      case 0xdb:
        return HandleQuantisers(segment);
      case 0xdd:
        if (segment.size() != 2) return false;
        frame_.restart_interval = BigEndian16(segment.data());
        return true;
      case 0xe0:  // jdmarker.c, examine_app0
        jfif_ = jfif_ || (segment.size() >= 14 && StartsWith(segment, "JFIF\0"sv));
        return true;
      case 0xee:  // and examine_app14
        if (segment.size() < 12 || !StartsWith(segment, "Adobe"sv)) return true;
        adobe_ = true;
        adobe_transform_ = segment[11];
        return true;
      default:
        return code == 0xfe || (code >= 0xe1 && code <= 0xef);
    }
  }

  bool HandleFrame(Bytes segment) {
    if (frame_.components != 0 || segment.size() < 6 || segment[0] != 8) return false;
    constexpr int kMaxSide = 65'500;  // libjpeg's
    frame_.height = BigEndian16(segment.data() + 1);
    frame_.width = BigEndian16(segment.data() + 3);
    const int count = segment[5];
    if ((count != 1 && count != 3) || segment.size() != 6 + 3 * static_cast<size_t>(count) ||
        frame_.height == 0 || frame_.height > kMaxSide || frame_.width == 0 ||
        frame_.width > kMaxSide) {
      return false;
    }
    frame_.components = count;
    for (int c = 0; c < count; ++c) {
      const uint8_t* from = segment.data() + 6 + 3 * c;
      ids_[c] = from[0];
      sampling_[c] = from[1];
      quantisers_of_[c] = from[2];
      if (from[2] > 3) return false;
    }
    return true;
  }

  bool HandleHuffman(Bytes segment) {
    while (!segment.empty()) {
      if (segment.size() < 17 || (segment[0] & 0xef) > 3) return false;
      JpegHuffmanSpec* spec = &huffman_[segment[0] >> 4][segment[0] & 3];
      size_t count = 0;
      for (int i = 1; i <= 16; ++i) count += segment[static_cast<size_t>(i)];
      if (count > 256 || segment.size() - 17 < count) return false;
      spec->counts = segment.data() + 1;
      spec->symbols = segment.subspan(17, count);
      segment = Skip(segment, 17 + count);
    }
    return true;
  }

  bool HandleQuantisers(Bytes segment) {
    while (!segment.empty()) {
      const bool wide = segment[0] >> 4 == 1;
      const size_t number = segment[0] & 15;
      if (segment[0] >> 4 > 1 || number > 3 || segment.size() < (wide ? 129U : 65U)) return false;
      for (size_t k = 0; k < 64; ++k) {
        frame_.quantisers[number][k] =
            static_cast<uint16_t>(wide ? BigEndian16(segment.data() + 1 + 2 * k) : segment[1 + k]);
      }
      has_quantisers_[number] = true;
      segment = Skip(segment, wide ? 129 : 65);
    }
    return true;
  }

  bool HandleScan(Bytes segment) {
    const size_t count = static_cast<size_t>(frame_.components);
    if (count == 0 || segment.size() != 4 + 2 * count || segment[0] != count) return false;
    for (size_t c = 0; c < count; ++c) {
      const uint8_t tables = segment[2 + 2 * c];
      if (segment[1 + 2 * c] != ids_[c] || tables >> 4 > 3 || (tables & 15) > 3) return false;
      JpegFrame::Component* component = &frame_.component[c];
      component->dc = huffman_[0][tables >> 4];
      component->ac = huffman_[1][tables & 15];
      component->quantisers = &frame_.quantisers[quantisers_of_[c]];
      if (component->dc.counts == nullptr || component->ac.counts == nullptr ||
          !has_quantisers_[quantisers_of_[c]]) {
        return false;
      }
    }
    const uint8_t* spectrum = segment.data() + 1 + 2 * count;
    return spectrum[0] == 0 && spectrum[1] == 63 && spectrum[2] == 0;
  }

  bool IsPlain() {
    if (frame_.components == 1) {
      // The only component's sampling divides itself.
      const int h = sampling_[0] >> 4, v = sampling_[0] & 15;
      return h >= 1 && h <= 4 && v >= 1 && v <= 4;
    }
    if (ids_[0] == ids_[1] || ids_[0] == ids_[2] || ids_[1] == ids_[2]) return false;
    const bool named_rgb = ids_[0] == 'R' && ids_[1] == 'G' && ids_[2] == 'B';
    if (!jfif_ && (adobe_ ? adobe_transform_ == 0 : named_rgb)) return false;
    frame_.h = sampling_[0] >> 4;
    frame_.v = sampling_[0] & 15;
    const bool known = sampling_[0] == 0x11 || sampling_[0] == 0x21 || sampling_[0] == 0x22;
    const bool wide_enough = frame_.h == 1 || (frame_.width + 1) / 2 > 2;
    return known && wide_enough && sampling_[1] == 0x11 && sampling_[2] == 0x11;
  }

  const Bytes encoded_;
  JpegFrame& frame_;
  uint8_t ids_[3] = {}, sampling_[3] = {}, quantisers_of_[3] = {};
  JpegHuffmanSpec huffman_[2][4];
  bool has_quantisers_[4] = {};
  bool jfif_ = false, adobe_ = false;
  uint8_t adobe_transform_ = 0;
};

}  // namespace

bool ReadJpegFrame(Bytes encoded, JpegFrame* frame) {
  if (encoded.size() < 4) return false;
  return Walk(encoded, frame).Run();
}

}  // namespace mmcpp::codec
