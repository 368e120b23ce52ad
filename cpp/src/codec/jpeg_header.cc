// The walk over a JPEG's segments, with the verdicts of Pillow 13's JpegImagePlugin. libjpeg walks
// them again afterwards, with verdicts of its own.
#include "codec/jpeg_header.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "base/ensure.h"
#include "codec/exif.h"

namespace mmcpp::codec {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kExif = "Exif\0\0"sv;
constexpr std::string_view kXmp = "http://ns.adobe.com/xap/1.0/\0"sv;
constexpr std::string_view kMultiPicture = "MPF\0"sv;

std::string_view Text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
bool StartsWith(Bytes bytes, std::string_view prefix) {
  return Text(bytes).substr(0, prefix.size()) == prefix;
}
Bytes Skip(Bytes bytes, size_t count) { return bytes.subspan(count, bytes.size() - count); }
int BigEndian16(const uint8_t* p) { return p[0] << 8 | p[1]; }

/// Whether Pillow 13 gets through a Photoshop block: it stops at anything odd, and fails only where
/// a resource ends right before the length of its name.
bool CanReadPhotoshop(Bytes segment) {
  size_t offset = 14;
  while (Text(segment).substr(std::min(offset, segment.size()), 4) == "8BIM") {
    offset += 4;
    if (offset + 2 > segment.size()) return true;
    offset += 2;
    if (offset >= segment.size()) return false;
    offset += 1 + size_t{segment[offset]};
    offset += offset & 1;
    if (offset + 4 > segment.size()) return true;
    const uint8_t* size = segment.data() + offset;
    offset += 4 + (uint64_t{size[0]} << 24 | size[1] << 16 | size[2] << 8 | size[3]);
    offset += offset & 1;
  }
  return true;
}

class Walk {
 public:
  explicit Walk(Bytes encoded) : encoded_(encoded) {}

  Result<JpegHeader> Run(bool need_scan) {
    size_t marker = 2;  // where the 0xff of the next marker is; SniffFormat saw that one
    while (marker < encoded_.size()) {
      if (encoded_[marker] != 0xff) {
        ++marker;
        continue;
      }
      if (marker + 1 == encoded_.size()) break;
      const uint8_t code = encoded_[marker + 1];
      if (code == 0xff) {  // padding
        ++marker;
        continue;
      }
      position_ = marker + 2;
      if (code > 0 && code < 0xc0) return Fail("no marker but ff " + std::to_string(code));
      if (HasSegment(code)) {
        Bytes segment;
        if (!TakeSegment(&segment)) {
          if (!need_scan && header_.sof != 0) break;
          return Fail("ends in a segment");
        }
        MMCPP_TRY(Handle(code, segment));
      }
      if (code == 0xda) {
        header_.has_scan = true;
        break;
      }
      marker = position_;
    }
    return Finish(need_scan);
  }

 private:
  Error Fail(const std::string& what) const {
    return CorruptInput("jpeg: " + what + " at byte " + std::to_string(position_) + " of " +
                        std::to_string(encoded_.size()));
  }

  static bool HasSegment(uint8_t code) {
    const bool bare = code == 0 || code == 0xc8 || (code >= 0xd0 && code <= 0xd9) ||
                      (code >= 0xf0 && code <= 0xfd);
    return !bare;
  }

  /// The payload behind the two bytes of length; false if the bytes end before it does.
  bool TakeSegment(Bytes* segment) {
    if (encoded_.size() - position_ < 2) return false;
    const int length = BigEndian16(encoded_.data() + position_) - 2;
    position_ += 2;
    if (length <= 0) return true;
    if (encoded_.size() - position_ < static_cast<size_t>(length)) return false;
    *segment = encoded_.subspan(position_, static_cast<size_t>(length));
    position_ += static_cast<size_t>(length);
    return true;
  }

  Status Handle(uint8_t code, Bytes segment) {
    if (code == 0xdb) return HandleQuantization(segment);
    if (code >= 0xe0 && code <= 0xef) return HandleApplication(code, segment);
    const bool frame =
        (code >= 0xc0 && code <= 0xcf && code != 0xc4 && code != 0xcc) || code == 0xde;
    return frame ? HandleFrame(code, segment) : Status(Ok{});
  }

  Status HandleFrame(uint8_t code, Bytes segment) {
    if (segment.size() < 6 || segment.size() % 3 != 0) {
      return Fail("frame header of " + std::to_string(segment.size()) + " bytes");
    }
    if (segment[0] != 8) {
      return Unsupported("jpeg: " + std::to_string(segment[0]) + " bits per sample, not 8");
    }
    header_.height = BigEndian16(segment.data() + 1);
    header_.width = BigEndian16(segment.data() + 3);
    header_.components = segment[5];
    header_.sof = code;
    if (header_.components != 1 && header_.components != 3 && header_.components != 4) {
      return Unsupported("jpeg: " + std::to_string(header_.components) +
                         " components, not 1, 3 or 4");
    }
    return Ok{};
  }

  Status HandleQuantization(Bytes segment) {
    while (!segment.empty()) {
      const size_t size = segment[0] < 16 ? 65 : 129;
      if (segment.size() < size) return Fail("short quantization table");
      segment = Skip(segment, size);
    }
    return Ok{};
  }

  Status HandleApplication(uint8_t code, Bytes segment) {
    if ((code == 0xe0 && StartsWith(segment, "JFIF")) ||
        (code == 0xee && StartsWith(segment, "Adobe"))) {
      if (segment.size() < 7) return Fail("short JFIF or Adobe segment");
    } else if (code == 0xe1 && StartsWith(segment, kExif)) {
      const Bytes part = header_.exif.empty() ? segment : Skip(segment, kExif.size());
      header_.exif.insert(header_.exif.end(), part.begin(), part.end());
    } else if (code == 0xe1 && StartsWith(segment, kXmp)) {
      header_.xmp = Skip(segment, kXmp.size());
    } else if (code == 0xe2 && StartsWith(segment, kMultiPicture)) {
      multi_picture_ = Skip(segment, kMultiPicture.size());
    } else if (code == 0xed && StartsWith(segment, "Photoshop 3.0\0"sv)) {
      if (!CanReadPhotoshop(segment)) return Fail("damaged Photoshop segment");
    }
    // Pillow 13 opens an Ultra HDR photograph as the plain JPEG that it also is.
    if (code == 0xe1 && Text(segment).find(" hdrgm:Version=\"") != std::string_view::npos) {
      ultra_hdr_ = true;
    }
    return Ok{};
  }

  Result<JpegHeader> Finish(bool need_scan) {
    if (header_.sof == 0) return Ended("before any frame header");
    if (need_scan && !header_.has_scan) return Ended("before any scan");
    if (header_.height == 0 || header_.width == 0) {
      return CorruptInput("jpeg: a side is zero: " + std::to_string(header_.height) + "x" +
                          std::to_string(header_.width) + " (height x width)");
    }
    if (!ultra_hdr_ && !multi_picture_.empty()) {
      header_.frames = CountOfMultiPicture(multi_picture_);
    }
    return std::move(header_);
  }

  Error Ended(const char* where) const {
    return CorruptInput("jpeg: ends at byte " + std::to_string(encoded_.size()) + " " + where);
  }

  Bytes encoded_;
  size_t position_ = 0;  ///< of what is read next
  JpegHeader header_;
  Bytes multi_picture_;
  bool ultra_hdr_ = false;
};

}  // namespace

Result<JpegHeader> ReadJpegHeader(Bytes encoded, bool need_scan) {
  return Walk(encoded).Run(need_scan);
}

}  // namespace mmcpp::codec
