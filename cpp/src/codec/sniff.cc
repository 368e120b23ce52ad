// Format marks: the five formats that are decoded, and those worth naming in a refusal.
#include "codec/sniff.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "base/ensure.h"

namespace mmcpp::codec {
namespace {

using std::string_view_literals::operator""sv;

/// Bytes that stand at a fixed place in every file of a format.
struct Mark {
  size_t offset;
  std::string_view bytes;
  const char* name;
};

// Longer marks stand before shorter ones that would hide them.
constexpr Mark kRefused[] = {
    {0, "II*\0"sv, "TIFF"},
    {0, "MM\0*"sv, "TIFF"},
    {0, "II+\0"sv, "BigTIFF"},
    {0, "MM\0+"sv, "BigTIFF"},
    {0, "\xff\x0a"sv, "JPEG XL"},
    {0, "\0\0\0\x0cJXL \r\n\x87\n"sv, "JPEG XL"},
    {0, "\0\0\0\x0cjP  \r\n\x87\n"sv, "JPEG 2000"},
    {0, "\xff\x4f\xff\x51"sv, "JPEG 2000"},
    {0, "\0\0\1\0"sv, "ICO"},
    {0, "\0\0\2\0"sv, "CUR"},
    {0, "icns"sv, "ICNS"},
    {0, "8BPS"sv, "PSD"},
    {0, "qoif"sv, "QOI"},
    {0, "DDS "sv, "DDS"},
    {0, "farbfeld"sv, "farbfeld"},
    {0, "#?RADIANCE"sv, "Radiance HDR"},
    {0, "#?RGBE"sv, "Radiance HDR"},
    {0, "\x76\x2f\x31\x01"sv, "OpenEXR"},
    {0, "SIMPLE  ="sv, "FITS"},
    {0, "\x8aMNG\r\n\x1a\n"sv, "MNG"},
    {0, "\x8bJNG\r\n\x1a\n"sv, "JNG"},
    {0, "BPG\xfb"sv, "BPG"},
    {0, "FLIF"sv, "FLIF"},
    {0, "gimp xcf"sv, "GIMP XCF"},
    {0, "\x01\xda"sv, "SGI"},
    {0, "\x59\xa6\x6a\x95"sv, "Sun raster"},
    {0, "BLP"sv, "BLP"},
    {0, "AT&TFORM"sv, "DjVu"},
    {0, "\xd7\xcd\xc6\x9a"sv, "WMF"},
    {40, " EMF"sv, "EMF"},
    {0, "%!PS"sv, "PostScript"},
    {0, "\xc5\xd0\xd3\xc6"sv, "EPS"},
    {0, "%PDF-"sv, "PDF"},
    {0, "/* XPM */"sv, "XPM"},
    {0, "\xabKTX "sv, "KTX"},
    {0, "PK\3\4"sv, "a ZIP archive"},
    {0, "PK\5\6"sv, "a ZIP archive"},
    {0, "\x1f\x8b"sv, "gzip data"},
    {0, "\x28\xb5\x2f\xfd"sv, "Zstandard data"},
    {0, "\xfd\x37zXZ\0"sv, "XZ data"},
    {0, "BZh"sv, "bzip2 data"},
    {0, "7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive"},
    {0, "Rar!\x1a\7"sv, "a RAR archive"},
    {257, "ustar"sv, "a tar archive"},
    {0, "\x1a\x45\xdf\xa3"sv, "Matroska or WebM"},
    {8, "AVI "sv, "AVI"},
    {8, "WAVE"sv, "WAV"},
    {8, "ACON"sv, "ANI"},
    {0, "OggS"sv, "Ogg"},
    {0, "fLaC"sv, "FLAC"},
    {0, "ID3"sv, "MP3"},
    {0, "\x93NUMPY"sv, "a NumPy array"},
    {0, "\x7f\x45LF"sv, "an ELF program"},
    {0, "\0asm"sv, "WebAssembly"},
};

/// Brands of an ISO base media file ("ftyp" at byte 4), ISO/IEC 14496-12.
constexpr Mark kBrands[] = {
    {8, "avif"sv, "AVIF"}, {8, "avis"sv, "AVIF"},
    {8, "heic"sv, "HEIC"}, {8, "heix"sv, "HEIC"},
    {8, "heim"sv, "HEIC"}, {8, "heis"sv, "HEIC"},
    {8, "hevc"sv, "HEIC"}, {8, "hevx"sv, "HEIC"},
    {8, "hevm"sv, "HEIC"}, {8, "hevs"sv, "HEIC"},
    {8, "mif1"sv, "HEIF"}, {8, "msf1"sv, "HEIF"},
    {8, "crx "sv, "CR3"},  {8, "qt  "sv, "QuickTime video"},
};

bool At(Bytes bytes, size_t offset, std::string_view mark) {
  return bytes.size() >= offset + mark.size() &&
         std::memcmp(bytes.data() + offset, mark.data(), mark.size()) == 0;
}

uint32_t LittleEndian32(Bytes bytes) {
  return bytes[0] | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 | uint32_t{bytes[3]} << 24;
}

/// A BITMAPFILEHEADER, or a bare DIB, which starts with the size of its own header.
bool IsBmp(Bytes bytes) {
  if (At(bytes, 0, "BM")) return true;
  if (bytes.size() < 4) return false;
  const uint32_t size = LittleEndian32(bytes);
  for (uint32_t known : {12u, 40u, 52u, 56u, 64u, 108u, 124u}) {
    if (size == known) return true;
  }
  return false;
}

/// Netpbm: P1..P7, PF, Pf and a separator. Pillow takes more letters; nothing else is a PNM.
bool IsPnm(Bytes bytes) {
  return bytes.size() >= 3 && bytes[0] == 'P' && std::strchr("1234567Ff", bytes[1]) != nullptr &&
         bytes[1] != 0 && std::strchr(" \t\r\n", bytes[2]) != nullptr && bytes[2] != 0;
}

bool StartsWithIgnoringCase(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), [](char want, char got) {
           return want == (got >= 'A' && got <= 'Z' ? got - 'A' + 'a' : got);
         });
}

/// What a text is, or null if the bytes are not text. Looks at the first KiB.
const char* NameOfText(Bytes bytes) {
  if (At(bytes, 0, "\xff\xfe") || At(bytes, 0, "\xfe\xff")) return "text in UTF-16";
  std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                        std::min<size_t>(bytes.size(), 1024));
  for (unsigned char c : text) {
    if (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f') return nullptr;
    if (c == 0x7f) return nullptr;
  }
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  while (!text.empty() && std::strchr(" \t\r\n\f", text.front()) != nullptr) text.remove_prefix(1);
  if (text.empty()) return "blank text";
  if (StartsWithIgnoringCase(text, "<!doctype html") || StartsWithIgnoringCase(text, "<html") ||
      StartsWithIgnoringCase(text, "<head") || StartsWithIgnoringCase(text, "<body")) {
    return "an HTML page";
  }
  if (text.find("<svg") != text.npos) return "SVG";
  if (StartsWithIgnoringCase(text, "<?xml")) return "XML";
  if (text.front() == '{' || text.front() == '[') return "JSON or other text";
  if (StartsWithIgnoringCase(text, "data:")) return "a data URL, not its bytes";
  if (StartsWithIgnoringCase(text, "http://") || StartsWithIgnoringCase(text, "https://")) {
    return "a URL, not what it points at";
  }
  // Bytes above 0x7f are UTF-8 or Latin-1 text only beside plenty of plain letters.
  const auto high =
      std::count_if(text.begin(), text.end(), [](unsigned char c) { return c >= 0x80; });
  return static_cast<size_t>(high) * 2 <= text.size() ? "text" : nullptr;
}

const char* NameOfRefused(Bytes bytes) {
  if (At(bytes, 4, "ftyp")) {
    for (const Mark& brand : kBrands) {
      if (At(bytes, brand.offset, brand.bytes)) return brand.name;
    }
    return "MP4 or another ISO media file";
  }
  for (const Mark& mark : kRefused) {
    if (At(bytes, mark.offset, mark.bytes)) return mark.name;
  }
  if (IsPnm(bytes)) return "PNM";
  return NameOfText(bytes);
}

}  // namespace

Result<ImageFormat> SniffFormat(Bytes encoded) {
  if (encoded.empty()) return InvalidArgument("decode: no bytes");
  if (At(encoded, 0, "\xff\xd8\xff")) return ImageFormat::kJpeg;
  if (At(encoded, 0, "\x89PNG\r\n\x1a\n")) return ImageFormat::kPng;
  if (At(encoded, 0, "RIFF") && At(encoded, 8, "WEBP")) return ImageFormat::kWebp;
  if (At(encoded, 0, "GIF87a") || At(encoded, 0, "GIF89a")) return ImageFormat::kGif;
  if (IsBmp(encoded)) return ImageFormat::kBmp;
  if (const char* name = NameOfRefused(encoded)) {
    return Unsupported("decode: " + std::string(name) +
                       ", which is none of JPEG, PNG, WebP, GIF and BMP");
  }
  std::string start;
  for (size_t i = 0; i < std::min<size_t>(encoded.size(), 8); ++i) {
    char hex[4];
    std::snprintf(hex, sizeof hex, " %02x", encoded[i]);
    start += hex;
  }
  return Unsupported("decode: no known picture format; " + std::to_string(encoded.size()) +
                     " bytes that start" + start);
}

}  // namespace mmcpp::codec
