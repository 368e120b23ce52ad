// The first directory of an EXIF block or a multi-picture index. Every read is bounded and no
// offset is followed but that of a value, so no input makes it loop.
#include "codec/exif.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace mmcpp::codec {
namespace {

using std::string_view_literals::operator""sv;

constexpr uint16_t kOrientationTag = 0x0112;
constexpr int kAbsent = -1;

bool StartsWith(Bytes bytes, std::string_view prefix) {
  return bytes.size() >= prefix.size() &&
         std::memcmp(bytes.data(), prefix.data(), prefix.size()) == 0;
}

Bytes Skip(Bytes bytes, size_t count) { return bytes.subspan(count, bytes.size() - count); }

/// Numbers of a TIFF stream in its byte order; the caller has checked the bounds.
struct Reader {
  Bytes bytes;
  bool big_endian;

  uint64_t Unsigned(size_t offset, size_t size) const {
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) {
      value = value << 8 | bytes[big_endian ? offset + i : offset + size - 1 - i];
    }
    return value;
  }
  bool Has(size_t offset, size_t size) const {
    return offset <= bytes.size() && size <= bytes.size() - offset;
  }
};

/// Bytes of one value of a TIFF type; 0 for a type that Pillow 13 does not load.
size_t TypeSize(unsigned type) {
  constexpr uint8_t kSizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8};
  return type < sizeof kSizes ? kSizes[type] : 0;
}

/// The first value at `offset` as an orientation: any numeric type counts if it is a whole number.
/// Text, bytes and undefined data, and numbers out of range, give 0, which turns nothing.
int OrientationOfValue(const Reader& reader, unsigned type, size_t offset) {
  double value = 0;
  switch (type) {
    case 3:   // SHORT
    case 4:   // LONG
    case 13:  // IFD
    case 16:  // LONG8
    case 6:   // the signed types: a negative value is out of range as a large one is
    case 8:
    case 9:
      value = static_cast<double>(reader.Unsigned(offset, TypeSize(type)));
      break;
    case 5:     // RATIONAL
    case 10: {  // SRATIONAL: two negative halves make a positive whole
      const bool is_signed = type == 10;
      const auto half = [&](size_t at) {
        const uint32_t bits = static_cast<uint32_t>(reader.Unsigned(at, 4));
        return is_signed ? static_cast<double>(static_cast<int32_t>(bits)) : double{1} * bits;
      };
      if (half(offset + 4) == 0) return 0;
      value = half(offset) / half(offset + 4);
      break;
    }
    case 11: {  // FLOAT
      const uint32_t bits = static_cast<uint32_t>(reader.Unsigned(offset, 4));
      float number;
      std::memcpy(&number, &bits, sizeof number);
      value = static_cast<double>(number);
      break;
    }
    case 12: {  // DOUBLE
      const uint64_t bits = reader.Unsigned(offset, 8);
      std::memcpy(&value, &bits, sizeof value);
      break;
    }
    default:
      return 0;
  }
  for (int whole = 1; whole <= 8; ++whole) {
    if (value == whole) return whole;
  }
  return 0;
}

/// Where a tag's values stand: `size` bytes of `type` at `offset`, within the stream.
struct Entry {
  unsigned type;
  size_t offset;
  uint64_t size;
};

/// A tag of the directory at `offset`. Stops, as Pillow 13 does, at the first entry that does not
/// fit the stream, and passes over values that together exceed it.
std::optional<Entry> FindEntry(const Reader& reader, size_t offset, uint16_t tag) {
  if (!reader.Has(offset, 2)) return std::nullopt;
  const size_t count = reader.Unsigned(offset, 2);
  uint64_t outside = 0;  // bytes of values that are kept outside of their entries
  for (size_t i = 0; i < count; ++i) {
    const size_t entry = offset + 2 + i * 12;
    if (!reader.Has(entry, 12)) return std::nullopt;
    const unsigned type = static_cast<unsigned>(reader.Unsigned(entry + 2, 2));
    const uint64_t size = reader.Unsigned(entry + 4, 4) * TypeSize(type);
    if (size == 0) continue;
    size_t value = entry + 8;
    if (size > 4) {
      outside += size;
      if (outside > reader.bytes.size()) continue;
      value = reader.Unsigned(entry + 8, 4);
      if (!reader.Has(value, size)) return std::nullopt;
    }
    if (reader.Unsigned(entry, 2) == tag) return Entry{type, value, size};
  }
  return std::nullopt;
}

/// A TIFF stream's byte order, or nothing if Pillow 13 refuses its header. It takes two misspelt
/// headers, and of BigTIFF only the big-endian one, which it reads as plain TIFF.
std::optional<Reader> OpenTiff(Bytes bytes) {
  const bool little = StartsWith(bytes, "II*\0"sv) || StartsWith(bytes, "II\0*"sv);
  const bool big =
      StartsWith(bytes, "MM\0*"sv) || StartsWith(bytes, "MM*\0"sv) || StartsWith(bytes, "MM\0+"sv);
  if (bytes.size() < 8 || !(little || big)) return std::nullopt;
  return Reader{bytes, big};
}

int OrientationOfXmp(Bytes xmp) {
  const std::string_view text(reinterpret_cast<const char*>(xmp.data()), xmp.size());
  constexpr std::string_view kName = "tiff:Orientation";
  for (size_t at = text.find(kName); at != text.npos; at = text.find(kName, at + 1)) {
    std::string_view rest = text.substr(at + kName.size());
    const size_t separator = rest.substr(0, 2) == "=\"" ? 2 : rest.substr(0, 1) == ">" ? 1 : 0;
    if (separator == 0 || rest.size() <= separator) continue;
    const char digit = rest[separator];
    if (digit >= '0' && digit <= '9') return digit - '0';
  }
  return kAbsent;
}

}  // namespace

int ReadOrientation(Bytes exif, Bytes xmp) {
  for (int i = 0; i < 2 && StartsWith(exif, "Exif\0\0"sv); ++i) exif = Skip(exif, 6);
  int orientation = kAbsent;
  if (!exif.empty()) {
    const std::optional<Reader> reader = OpenTiff(exif);
    if (!reader) return 1;
    const auto entry = FindEntry(*reader, reader->Unsigned(4, 4), kOrientationTag);
    if (entry) orientation = OrientationOfValue(*reader, entry->type, entry->offset);
  }
  if (orientation == kAbsent && !xmp.empty()) orientation = OrientationOfXmp(xmp);
  return orientation >= 1 && orientation <= 8 ? orientation : 1;
}

int CountOfMultiPicture(Bytes index) {
  constexpr uint16_t kNumberOfImages = 0xb001, kEntries = 0xb002;
  constexpr uint64_t kEntrySize = 16;
  const std::optional<Reader> reader = OpenTiff(index);
  if (!reader) return 1;
  const size_t directory = reader->Unsigned(4, 4);
  const auto number = FindEntry(*reader, directory, kNumberOfImages);
  const auto entries = FindEntry(*reader, directory, kEntries);
  constexpr unsigned kLong = 4;
  if (!number || number->type != kLong || number->size != 4 || !entries) return 1;
  const uint64_t count = reader->Unsigned(number->offset, 4);
  if (count < 1 || count > entries->size / kEntrySize) return 1;
  return static_cast<int>(count);
}

}  // namespace mmcpp::codec
