// Table-driven base64: whole quads by four look-ups each, and a careful path for everything that is
// not four plain symbols in a row. Output is allocated once and written once.
#include "base/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/ensure.h"

namespace mmcpp {
namespace {

constexpr uint8_t kNoSymbol = 0xff;
// Set in a quad's sum when one of its characters is no symbol: above the 24 bits of data.
constexpr uint32_t kBadQuad = 0xff000000u;

// One alphabet: a symbol's value, and its contribution to the three bytes of a quad by position.
// The contributions have the first output byte lowest.
struct Tables {
  std::array<uint8_t, 256> value{};
  std::array<std::array<uint32_t, 256>, 4> quad{};
};

constexpr Tables MakeTables(bool url_safe) {
  constexpr char kSymbols[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  Tables tables;
  for (int i = 0; i < 256; ++i) tables.value[static_cast<size_t>(i)] = kNoSymbol;
  for (uint8_t i = 0; i < 64; ++i) tables.value[static_cast<uint8_t>(kSymbols[i])] = i;
  if (url_safe) {
    tables.value['-'] = 62;
    tables.value['_'] = 63;
  }
  for (size_t c = 0; c < 256; ++c) {
    const uint32_t v = tables.value[c];
    const bool bad = v == kNoSymbol;
    tables.quad[0][c] = bad ? kBadQuad : v << 2;
    tables.quad[1][c] = bad ? kBadQuad : v >> 4 | (v & 15) << 12;
    tables.quad[2][c] = bad ? kBadQuad : (v >> 2) << 8 | (v & 3) << 22;
    tables.quad[3][c] = bad ? kBadQuad : v << 16;
  }
  return tables;
}

constexpr Tables kStandard = MakeTables(false);
constexpr Tables kEither = MakeTables(true);

uint32_t QuadSum(const Tables& tables, const uint8_t* in) {
  return tables.quad[0][in[0]] | tables.quad[1][in[1]] | tables.quad[2][in[2]] |
         tables.quad[3][in[3]];
}

void StoreQuad(uint32_t sum, uint8_t* out) {
  out[0] = static_cast<uint8_t>(sum);
  out[1] = static_cast<uint8_t>(sum >> 8);
  out[2] = static_cast<uint8_t>(sum >> 16);
}

// Decodes quads of plain symbols from `in` until one is not, or `count` are done; gives how many
// were done.
size_t DecodeQuads(const Tables& tables, const uint8_t* in, size_t count, uint8_t* out) {
  size_t done = 0;
  // Four at a time, so that there is one branch for sixteen symbols.
  for (; done + 4 <= count; done += 4, in += 16, out += 12) {
    const uint32_t a = QuadSum(tables, in), b = QuadSum(tables, in + 4);
    const uint32_t c = QuadSum(tables, in + 8), d = QuadSum(tables, in + 12);
    if (((a | b | c | d) & kBadQuad) != 0) break;
    StoreQuad(a, out);
    StoreQuad(b, out + 3);
    StoreQuad(c, out + 6);
    StoreQuad(d, out + 9);
  }
  for (; done < count; ++done, in += 4, out += 3) {
    const uint32_t sum = QuadSum(tables, in);
    if ((sum & kBadQuad) != 0) break;
    StoreQuad(sum, out);
  }
  return done;
}

Error TooLarge(size_t max_bytes) {
  return LimitExceeded("base64: decodes to more than " + std::to_string(max_bytes) + " bytes");
}

Error BadCharacter(uint8_t c, size_t offset) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string message = "base64: byte 0x";
  message += {kHex[c >> 4], kHex[c & 15]};
  message += " at offset " + std::to_string(offset) + " is not in the alphabet";
  if (c == '-' || c == '_') message += " (the url-safe alphabet is off)";
  return BadSource(std::move(message));
}

bool IsSpace(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v'); }

// Walks over whitespace and escapes, one character at a time.
class Reader {
 public:
  Reader(std::string_view text, bool escapes) : text_(text), escapes_(escapes) {}

  size_t pos() const { return pos_; }
  size_t left() const { return text_.size() - pos_; }
  const uint8_t* data() const { return reinterpret_cast<const uint8_t*>(text_.data()) + pos_; }
  void Skip(size_t count) { pos_ += count; }

  // The next character that is no whitespace, and where it stands; false at the end.
  bool Next(uint8_t* c, size_t* offset) {
    while (pos_ < text_.size()) {
      *offset = pos_;
      *c = static_cast<uint8_t>(text_[pos_++]);
      if (*c == '%' && escapes_ && left() >= 2) {
        const int high = HexValue(text_[pos_]);
        const int low = HexValue(text_[pos_ + 1]);
        if (high >= 0 && low >= 0) {
          *c = static_cast<uint8_t>(high * 16 + low);
          pos_ += 2;
        }
      }
      if (!IsSpace(*c)) return true;
    }
    return false;
  }

 private:
  std::string_view text_;
  bool escapes_;
  size_t pos_ = 0;
};

// Up to four symbols, and the padding after them if the text ends here.
struct Group {
  std::array<uint8_t, 4> values{};
  size_t symbols = 0;
  size_t padding = 0;
};

Result<Group> ReadGroup(Reader* reader, const Tables& tables) {
  Group group;
  uint8_t c;
  size_t offset;
  while (group.symbols < 4 && reader->Next(&c, &offset)) {
    if (c == '=') {
      // Two symbols allow two, three allow one; fewer symbols carry no byte to pad.
      if (group.symbols < 2 || ++group.padding > 4 - group.symbols) {
        return BadSource("base64: unexpected '=' at offset " + std::to_string(offset));
      }
      continue;
    }
    const uint8_t value = tables.value[c];
    if (value == kNoSymbol) return BadCharacter(c, offset);
    if (group.padding > 0) {
      return BadSource("base64: data after the padding, at offset " + std::to_string(offset));
    }
    group.values[group.symbols++] = value;
  }
  return group;
}

// Writes the 0 to 3 bytes of a group.
void WriteGroup(const Group& group, uint8_t* out) {
  const auto& v = group.values;
  if (group.symbols > 1) out[0] = static_cast<uint8_t>(v[0] << 2 | v[1] >> 4);
  if (group.symbols > 2) out[1] = static_cast<uint8_t>(v[1] << 4 | v[2] >> 2);
  if (group.symbols > 3) out[2] = static_cast<uint8_t>(v[2] << 6 | v[3]);
}

}  // namespace

Result<Buffer> DecodeBase64Lenient(std::string_view text, const Base64Options& options) {
  const Tables& tables = options.url_safe ? kEither : kStandard;
  // No character gives more than 3/4 of a byte, so this is enough whatever the whitespace.
  const size_t capacity = std::min(text.size() / 4 * 3 + 2, options.max_bytes);
  MMCPP_ASSIGN(Buffer buffer, Buffer::Allocate(capacity));
  Reader reader(text, options.percent_escapes);
  size_t written = 0;
  while (true) {
    const size_t quads =
        DecodeQuads(tables, reader.data(), std::min(reader.left() / 4, (capacity - written) / 3),
                    buffer.data() + written);
    reader.Skip(quads * 4);
    written += quads * 3;
    MMCPP_ASSIGN(const Group group, ReadGroup(&reader, tables));
    if (group.symbols == 0) break;
    if (group.symbols == 1) {
      return BadSource("base64: a lone symbol at the end of " + std::to_string(text.size()) +
                       " characters");
    }
    if (group.symbols - 1 > capacity - written) return TooLarge(options.max_bytes);
    WriteGroup(group, buffer.data() + written);
    written += group.symbols - 1;
  }
  buffer.Truncate(written);
  return buffer;
}

Result<Buffer> DecodeBase64Exact(std::string_view text, size_t max_bytes) {
  const auto* in = reinterpret_cast<const uint8_t*>(text.data());
  const size_t size = text.size();
  const auto bad_symbol = [in](size_t offset) {
    return BadSource("Invalid symbol " + std::to_string(in[offset]) + ", offset " +
                     std::to_string(offset) + ".");
  };
  if (size == 0) return Buffer();
  // The last group, whole or not, is looked at apart: only it may have padding.
  const size_t last = (size - 1) / 4 * 4;
  const size_t padding_guess = in[size - 1] != '=' ? 0 : size > 1 && in[size - 2] == '=' ? 2 : 1;
  // As the crate's own estimate: before the alphabet is looked at.
  if ((size + 3) / 4 * 3 - padding_guess > max_bytes) return TooLarge(max_bytes);
  // A stray byte at the very end, such as a line break, is reported before faults further up.
  if (size - last == 1 && in[last] != '=' && kStandard.value[in[last]] == kNoSymbol) {
    return bad_symbol(last);
  }
  MMCPP_ASSIGN(Buffer buffer, Buffer::Allocate(last / 4 * 3 + 3));
  const size_t quads = DecodeQuads(kStandard, in, last / 4, buffer.data());
  if (quads < last / 4) {
    size_t offset = quads * 4;
    while (kStandard.value[in[offset]] != kNoSymbol) ++offset;
    return bad_symbol(offset);
  }

  Group group;
  for (size_t i = last; i < size; ++i) {
    if (in[i] == '=') {
      if (i - last < 2) return bad_symbol(i);
      ++group.padding;
      continue;
    }
    // The first '=' is at fault when a symbol follows it.
    if (group.padding > 0) return bad_symbol(last + group.symbols);
    const uint8_t value = kStandard.value[in[i]];
    if (value == kNoSymbol) return bad_symbol(i);
    group.values[group.symbols++] = value;
  }
  if (group.symbols < 2) {
    return BadSource("Invalid input length: " + std::to_string(last + group.symbols));
  }
  if (group.symbols + group.padding != 4) return BadSource("Invalid padding");
  const unsigned unused_bits = group.symbols == 2 ? 15 : group.symbols == 3 ? 3 : 0;
  if ((group.values[group.symbols - 1] & unused_bits) != 0) {
    const size_t offset = last + group.symbols - 1;
    return BadSource("Invalid last symbol " + std::to_string(in[offset]) + ", offset " +
                     std::to_string(offset) + ".");
  }
  WriteGroup(group, buffer.data() + last / 4 * 3);
  buffer.Truncate(last / 4 * 3 + group.symbols - 1);
  return buffer;
}

}  // namespace mmcpp
