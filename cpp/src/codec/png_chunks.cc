// A PNG chunk by chunk. What looks odd here is what Pillow does: a text chunk whose keyword is the
// name of something that Pillow keeps beside the texts replaces it, an unknown colour type makes
// IDAT an unknown chunk, checksums count before the pixels and not after them.
#include "codec/png_chunks.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/ensure.h"
#include "codec/png_inflate.h"

namespace mmcpp::codec {
namespace {

constexpr size_t kSignatureBytes = 8;
constexpr uint64_t kMaxTextBytes = uint64_t{64} << 20;  // Pillow's MAX_TEXT_MEMORY
// Listed pieces of pixel data: some, and more if they have so many bytes on average.
constexpr size_t kMinPieces = 1024, kMinPieceBytes = 256;
constexpr size_t kMaxKeptText = size_t{1} << 20;  // EXIF and XMP; nothing else is kept

constexpr uint32_t Name(const char (&text)[5]) {
  return uint32_t{static_cast<uint8_t>(text[0])} << 24 |
         uint32_t{static_cast<uint8_t>(text[1])} << 16 |
         uint32_t{static_cast<uint8_t>(text[2])} << 8 | uint32_t{static_cast<uint8_t>(text[3])};
}

uint32_t BigEndian32(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | uint32_t{p[3]};
}

uint32_t BigEndian16(const uint8_t* p) { return uint32_t{p[0]} << 8 | uint32_t{p[1]}; }

bool IsNameCharacter(uint8_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool Is(Bytes bytes, std::string_view text) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == text;
}

Bytes From(Bytes bytes, size_t begin) {
  begin = std::min(begin, bytes.size());
  return bytes.subspan(begin, bytes.size() - begin);
}

/// Splits at the first zero byte into *head and *tail; without one, all is head. Tells whether
/// there was one.
bool SplitAtZero(Bytes bytes, Bytes* head, Bytes* tail) {
  const size_t at =
      static_cast<size_t>(std::find(bytes.begin(), bytes.end(), uint8_t{0}) - bytes.begin());
  *head = bytes.subspan(0, at);
  *tail = From(bytes, at + 1);
  return at < bytes.size();
}

bool IsValid(int depth, int color) {
  switch (color) {
    case static_cast<int>(PngColor::kGray):
      return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
    case static_cast<int>(PngColor::kPalette):
      return depth == 1 || depth == 2 || depth == 4 || depth == 8;
    case static_cast<int>(PngColor::kRgb):
    case static_cast<int>(PngColor::kGrayAlpha):
    case static_cast<int>(PngColor::kRgba):
      return depth == 8 || depth == 16;
    default:
      return false;
  }
}

/// Texts that are read beyond their size.
bool IsWanted(Bytes key) {
  return Is(key, "Raw profile type exif") || Is(key, "XML:com.adobe.xmp");
}

std::string IfWanted(Bytes key, Bytes text) {
  if (!IsWanted(key) || text.size() > kMaxKeptText) return {};
  return {text.begin(), text.end()};
}

}  // namespace

const char* PngMode(const PngHeader& header) {
  switch (header.color) {
    case PngColor::kGray:
      return header.depth == 1 ? "1" : header.depth == 16 ? "I;16" : "L";
    case PngColor::kRgb:
      return "RGB";
    case PngColor::kPalette:
      return "P";
    case PngColor::kGrayAlpha:
      return header.depth == 8 ? "LA" : "RGBA";
    case PngColor::kRgba:
      return "RGBA";
  }
  return "";
}

Error PngChunks::Broken(const Chunk& chunk, const std::string& what) const {
  std::string name;
  for (int shift : {24, 16, 8, 0}) name += static_cast<char>(chunk.name >> shift & 0xff);
  return CorruptInput("png: chunk " + name + " at byte " + std::to_string(chunk.begin - 8) + " " +
                      what);
}

Result<PngChunks::Chunk> PngChunks::Next() {
  const Bytes rest = From(file_, at_.position);
  if (rest.size() < 8 || !std::all_of(rest.begin() + 4, rest.begin() + 8, IsNameCharacter)) {
    return CorruptInput("png: no chunk at byte " + std::to_string(at_.position) + " of " +
                        std::to_string(file_.size()));
  }
  Chunk chunk;
  chunk.length = BigEndian32(rest.data());
  chunk.name = BigEndian32(rest.data() + 4);
  at_.position += 8;
  chunk.begin = at_.position;
  return chunk;
}

Result<Bytes> PngChunks::Take(const Chunk& chunk, size_t length) {
  const Bytes rest = From(file_, at_.position);
  if (rest.size() < length) {
    return Broken(chunk, "is cut short: " + std::to_string(rest.size()) + " of " +
                             std::to_string(length) + " bytes");
  }
  at_.position += length;
  return rest.subspan(0, length);
}

Status PngChunks::CheckCrc(const Chunk& chunk) {
  const Bytes rest = From(file_, at_.position);
  if (rest.size() < 4) return Broken(chunk, "ends without its checksum");
  const size_t begin = chunk.begin - 4;  // the name counts, the length does not
  if (BigEndian32(rest.data()) != Crc32(file_.subspan(begin, at_.position - begin))) {
    return Broken(chunk, "has a wrong checksum");
  }
  at_.position += 4;
  return Ok{};
}

Status PngChunks::ReadHeader() {
  at_.position = kSignatureBytes;
  for (;;) {
    MMCPP_ASSIGN(const Chunk chunk, Next());
    MMCPP_ASSIGN(const Handled handled, Handle(chunk));
    if (handled == Handled::kStop) {
      if (chunk.name == Name("IEND")) break;
      has_data_ = true;
      at_.data_left = chunk.length - (at_.position - chunk.begin);
      break;
    }
    MMCPP_TRY(CheckCrc(chunk));
  }
  if (header_.depth == 0) return CorruptInput("png: no IHDR with a known colour type and depth");
  if (header_.height == 0 || header_.width == 0) {
    return CorruptInput("png: a size of " + std::to_string(header_.height) + "x" +
                        std::to_string(header_.width) + " pixels (height x width)");
  }
  if (frame_count_) {
    header_.frames = *frame_count_;
    const bool frame_first = header_.region || header_.region_is_text;
    if (has_data_ && !frame_first) ++header_.frames;  // the picture is not part of the animation
  }
  animated_ = header_.frames > 1;
  return Ok{};
}

Result<PngChunks::Handled> PngChunks::Handle(const Chunk& chunk) {
  switch (chunk.name) {
    case Name("IDAT"):
      if (header_.depth != 0) return Handled::kStop;
      break;
    case Name("fdAT"):
      MMCPP_TRY(ReadSequence(chunk));
      if (header_.depth != 0) return Handled::kStop;
      return Broken(chunk, "comes before a valid IHDR");
    case Name("IEND"):
      return Handled::kStop;
    default:
      break;
  }
  MMCPP_ASSIGN(const Bytes data, Take(chunk, chunk.length));
  const auto at_least = [&](size_t size) -> Status {
    if (data.size() >= size) return Ok{};
    return Broken(chunk, "has " + std::to_string(data.size()) + " bytes, too few");
  };
  switch (chunk.name) {
    case Name("IHDR"):
      MMCPP_TRY(at_least(13));
      MMCPP_TRY(ReadIhdr(chunk, data));
      break;
    case Name("PLTE"):
      if (header_.depth != 0 && header_.color == PngColor::kPalette) header_.palette = data;
      break;
    case Name("tRNS"):
      MMCPP_TRY(ReadTransparency(chunk, data));
      break;
    case Name("gAMA"):
      MMCPP_TRY(at_least(4));
      break;
    case Name("cHRM"):
      MMCPP_TRY(at_least(32));
      break;
    case Name("sRGB"):
      MMCPP_TRY(at_least(1));
      break;
    case Name("pHYs"):
      MMCPP_TRY(at_least(9));
      break;
    case Name("iCCP"):
      MMCPP_TRY(ReadIccProfile(chunk, data));
      break;
    case Name("tEXt"):
      MMCPP_TRY(ReadText(chunk, data));
      break;
    case Name("zTXt"):
      MMCPP_TRY(ReadCompressedText(chunk, data));
      break;
    case Name("iTXt"):
      MMCPP_TRY(ReadInternationalText(chunk, data));
      break;
    case Name("eXIf"):
      header_.exif = data;
      break;
    case Name("acTL"):
      MMCPP_TRY(at_least(8));
      MMCPP_TRY(ReadAnimation(chunk, data));
      break;
    case Name("fcTL"):
      MMCPP_TRY(at_least(26));
      MMCPP_TRY(ReadFrame(chunk, data));
      break;
    default:
      break;
  }
  return Handled::kRead;
}

Status PngChunks::ReadIhdr(const Chunk& chunk, Bytes data) {
  header_.width = BigEndian32(data.data());  // width first
  header_.height = BigEndian32(data.data() + 4);
  if (IsValid(data[8], data[9])) {
    header_.depth = data[8];
    header_.color = static_cast<PngColor>(data[9]);
  }
  if (data[12] != 0) header_.interlaced = true;
  if (data[11] != 0) return Broken(chunk, "asks for an unknown filter method");
  return Ok{};
}

Status PngChunks::ReadTransparency(const Chunk& chunk, Bytes data) {
  if (header_.depth == 0) return Ok{};
  PngTransparency& transparency = header_.transparency;
  using Kind = PngTransparency::Kind;
  if (header_.color == PngColor::kPalette) {
    // One transparent entry among opaque ones is kept as its index. A last byte of '\n' does not
    // count in Pillow's pattern for that.
    const uint8_t* end = data.end();
    if (!data.empty() && *(end - 1) == '\n') --end;
    const uint8_t* zero = std::find(data.begin(), end, uint8_t{0});
    const bool simple = zero != end && std::all_of(data.begin(), end, [&](const uint8_t& alpha) {
                          return &alpha == zero || alpha == 255;
                        });
    if (simple) {
      transparency = {Kind::kValue, {static_cast<uint32_t>(zero - data.begin()), 0, 0}, {}};
    } else {
      transparency = {Kind::kAlphas, {}, data};
    }
    return Ok{};
  }
  const bool is_rgb = header_.color == PngColor::kRgb;
  if (!is_rgb && header_.color != PngColor::kGray) return Ok{};
  if (data.size() < (is_rgb ? 6u : 2u)) return Broken(chunk, "is too short for its colour type");
  const uint32_t first = BigEndian16(data.data());
  if (is_rgb) {
    const uint32_t green = BigEndian16(data.data() + 2), blue = BigEndian16(data.data() + 4);
    transparency = {Kind::kColor, {first, green, blue}, {}};
  } else {
    const uint32_t value = header_.depth != 1 ? first : first != 0 ? 255 : 0;
    transparency = {Kind::kValue, {value, 0, 0}, {}};
  }
  return Ok{};
}

Status PngChunks::ReadIccProfile(const Chunk& chunk, Bytes data) {
  Bytes name, rest;
  if (!SplitAtZero(data, &name, &rest)) rest = data;  // Pillow then reads from the first byte
  if (rest.empty() || rest[0] != 0) return Broken(chunk, "has no known compression method");
  MMCPP_TRY(Inflate(chunk, {}, From(rest, 1), nullptr));
  return Ok{};
}

Status PngChunks::ReadText(const Chunk& chunk, Bytes data) {
  Bytes key, value;
  SplitAtZero(data, &key, &value);
  if (key.empty()) return Ok{};
  if (Is(key, "exif")) header_.exif = value;
  return KeepText(chunk, key, value.size(), IfWanted(key, value));
}

Status PngChunks::ReadCompressedText(const Chunk& chunk, Bytes data) {
  Bytes key, value;
  SplitAtZero(data, &key, &value);
  if (!value.empty() && value[0] != 0) return Broken(chunk, "has no known compression method");
  std::string text;
  MMCPP_ASSIGN(const size_t size, Inflate(chunk, key, From(value, 1), &text));
  if (key.empty()) return Ok{};
  return KeepText(chunk, key, size, std::move(text));
}

Status PngChunks::ReadInternationalText(const Chunk& chunk, Bytes data) {
  Bytes key, rest, language, translated, value;
  if (!SplitAtZero(data, &key, &rest) || rest.size() < 2) return Ok{};
  const bool compressed = rest[0] != 0;
  const bool known_method = rest[1] == 0;
  if (!SplitAtZero(From(rest, 2), &language, &rest) || !SplitAtZero(rest, &translated, &value)) {
    return Ok{};
  }
  if (!compressed) return KeepText(chunk, key, value.size(), IfWanted(key, value));
  if (!known_method) return Ok{};
  std::string text;
  MMCPP_ASSIGN(const size_t size, Inflate(chunk, key, value, &text));
  return KeepText(chunk, key, size, std::move(text));
}

/// The size of a compressed text, 0 if it is damaged. *text gets it if it is wanted.
Result<size_t> PngChunks::Inflate(const Chunk& chunk, Bytes key, Bytes stream, std::string* text) {
  if (!texts_) {
    MMCPP_ASSIGN(texts_, StreamInflater::Create());
  }
  const InflatedText result = InflateText(&*texts_, stream, IsWanted(key) ? text : nullptr);
  if (result.outcome == InflatedText::Outcome::kTooLarge) {
    return Broken(chunk, "inflates to more than 1 MiB");
  }
  // Pillow counts only what it keeps, and would inflate nameless texts and profiles forever.
  inflated_bytes_ += result.size;
  if (inflated_bytes_ > kMaxTextBytes) return Broken(chunk, "brings the texts to over 64 MiB");
  if (result.outcome == InflatedText::Outcome::kWhole) return result.size;
  if (text != nullptr) text->clear();
  return size_t{0};
}

Status PngChunks::KeepText(const Chunk& chunk, Bytes key, size_t size, std::string text) {
  text_bytes_ += size;
  if (text_bytes_ > kMaxTextBytes) return Broken(chunk, "brings the texts to over 64 MiB");
  if (Is(key, "interlace")) header_.interlaced = size > 0;
  if (Is(key, "transparency")) header_.transparency = {PngTransparency::Kind::kText, {}, {}};
  if (Is(key, "bbox")) header_.region_is_text = true;
  if (Is(key, "Raw profile type exif")) {
    header_.exif_text = std::move(text);
  } else if (Is(key, "XML:com.adobe.xmp")) {
    header_.xmp = std::move(text);
  }
  return Ok{};
}

Status PngChunks::ReadAnimation(const Chunk& /*chunk*/, Bytes data) {
  const uint32_t frames = BigEndian32(data.data());
  if (frame_count_) {
    frame_count_.reset();  // two of them: not an animation after all
  } else if (frames != 0 && frames <= 0x80000000u) {
    frame_count_ = frames;
  }
  return Ok{};
}

Status PngChunks::ReadFrame(const Chunk& chunk, Bytes data) {
  const uint32_t sequence = BigEndian32(data.data());
  if (sequence != (at_.sequence ? uint64_t{*at_.sequence} + 1 : 0)) {
    return Broken(chunk, "is out of sequence");
  }
  at_.sequence = sequence;
  PngRegion region;
  region.width = BigEndian32(data.data() + 4);  // width first, x first
  region.height = BigEndian32(data.data() + 8);
  region.x = BigEndian32(data.data() + 12);
  region.y = BigEndian32(data.data() + 16);
  if (uint64_t{region.x} + region.width > header_.width ||
      uint64_t{region.y} + region.height > header_.height) {
    return Broken(chunk, "has a frame outside of the picture");
  }
  if (!has_data_) {
    header_.region = region;
    header_.region_is_text = false;
  }
  return Ok{};
}

Status PngChunks::ReadSequence(const Chunk& chunk) {
  if (chunk.length < 4) return Broken(chunk, "is too short");
  MMCPP_ASSIGN(const Bytes data, Take(chunk, 4));
  const uint32_t sequence = BigEndian32(data.data());
  if (!at_.sequence || sequence != uint64_t{*at_.sequence} + 1) {
    return Broken(chunk, "is out of sequence");
  }
  at_.sequence = sequence;
  return Ok{};
}

Result<Bytes> PngChunks::ReadData(size_t limit) {
  while (at_.data_left == 0) {
    if (at_.pushed) return Bytes();
    at_.position = std::min(at_.position + 4, file_.size());  // the checksum
    MMCPP_ASSIGN(const Chunk chunk, Next());
    if (chunk.name == Name("fdAT")) {
      MMCPP_TRY(ReadSequence(chunk));
    } else if (chunk.name != Name("IDAT") && chunk.name != Name("DDAT")) {
      at_.pushed = chunk;
      return Bytes();
    }
    at_.data_left = chunk.length - (at_.position - chunk.begin);
  }
  const size_t wanted = std::min(limit, at_.data_left);
  const Bytes rest = From(file_, at_.position);
  const Bytes data = rest.subspan(0, std::min(wanted, rest.size()));
  at_.data_left -= wanted;
  at_.position += data.size();
  return data;
}

std::optional<std::vector<Bytes>> PngChunks::AllData() {
  const Cursor start = at_;
  std::vector<Bytes> pieces;
  size_t total = 0;
  while (pieces.size() < kMinPieces + total / kMinPieceBytes) {
    // A chunk cut short, or one that ends the file, makes the read after it fail.
    const Result<Bytes> piece = ReadData(SIZE_MAX);
    if (!piece.ok() || piece->empty()) break;
    pieces.push_back(*piece);
    total += piece->size();
  }
  const bool whole = at_.pushed && !pieces.empty();
  at_ = start;
  if (!whole) return std::nullopt;
  return pieces;
}

void PngChunks::SkipData() {
  for (;;) {
    const Result<Bytes> piece = ReadData(SIZE_MAX);
    if (!piece.ok() || piece->empty()) return;
  }
}

Status PngChunks::ReadTrailer() {
  at_.position += std::min(at_.data_left, file_.size() - at_.position);
  at_.data_left = 0;
  for (;;) {
    at_.position =
        std::min(at_.position + 4, file_.size());  // the checksum, which does not count here
    Chunk chunk;
    if (at_.pushed) {
      chunk = *at_.pushed;
      at_.pushed.reset();
      at_.position = chunk.begin;
    } else {
      const Result<Chunk> next = Next();
      if (!next.ok()) return Ok{};
      chunk = *next;
    }
    if (chunk.name == Name("IEND")) return Ok{};
    if (chunk.name == Name("fcTL") && animated_) return Ok{};
    MMCPP_ASSIGN(const Handled handled, Handle(chunk));
    if (handled == Handled::kStop) {  // more pixels than the picture has
      MMCPP_TRY(Take(chunk, chunk.length - (at_.position - chunk.begin)));
    }
  }
}

}  // namespace mmcpp::codec
