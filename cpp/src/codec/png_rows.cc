// One row at a time: samples to a table's indices or to RGBA, then to RGB.
#include "codec/png_rows.h"

#include <algorithm>
#include <cstring>

#include "base/ensure.h"
#include "codec/color.h"
#include "codec/png_layout.h"

namespace mmcpp::codec {
namespace {

using TransparencyKind = PngTransparency::Kind;

Error DoesNotFit() { return CorruptInput("png: transparency that does not fit the colour type"); }

/// Pillow looks at transparency only on the way to RGBA, and of modes L and P also to RGB.
bool LooksAtTransparency(const PngHeader& header, const DecodeOptions& options) {
  if (header.transparency.kind == TransparencyKind::kNone) return false;
  if (header.color == PngColor::kGrayAlpha || header.color == PngColor::kRgba) return false;
  if (header.color == PngColor::kRgb && options.alpha == AlphaMode::kKeep) return false;
  return options.alpha != AlphaMode::kDrop || header.color == PngColor::kPalette ||
         (header.color == PngColor::kGray && header.depth != 1 && header.depth != 16);
}

}  // namespace

size_t PngRows::Channels(const PngHeader& header, const DecodeOptions& options) {
  return header.color == PngColor::kRgb ? 3 : static_cast<size_t>(ChannelsOf(options));
}

Result<PngRows> PngRows::Create(const PngHeader& header, const DecodeOptions& options) {
  PngRows rows;
  rows.channels_ = Channels(header, options);
  rows.options_ = options;
  rows.depth_ = header.depth;
  rows.bits_per_pixel_ = PngBitsPerPixel(header);
  const bool deep = header.depth == 16;
  switch (header.color) {
    case PngColor::kPalette:
      MMCPP_TRY(rows.SetPalette(header, options));
      break;
    case PngColor::kGray:
      MMCPP_TRY(rows.SetGray(header, options));
      if (deep) rows.kind_ = Kind::kGray16;
      break;
    case PngColor::kGrayAlpha:
      rows.gray_ = true;
      rows.kind_ = deep ? Kind::kWithAlpha16 : Kind::kGrayAlpha8;
      break;
    case PngColor::kRgba:
      rows.kind_ = deep ? Kind::kWithAlpha16 : Kind::kRgba8;
      break;
    case PngColor::kRgb:
      rows.kind_ = deep ? Kind::kRgb16 : Kind::kRgb8;
      if (LooksAtTransparency(header, options)) {
        if (header.transparency.kind != TransparencyKind::kColor) return DoesNotFit();
        // Pillow compares the low byte of the colour, also with the high byte of 16-bit samples.
        for (size_t c = 0; c < 3; ++c) {
          rows.transparent_[c] = static_cast<uint8_t>(header.transparency.value[c]);
        }
        const uint8_t clear[4] = {rows.transparent_[0], rows.transparent_[1], rows.transparent_[2],
                                  0};
        RgbaToRgb(clear, options, rows.replacement_);
        rows.has_transparent_ = true;
      }
      break;
  }
  if (header.palette && header.color != PngColor::kPalette) {
    return CorruptInput("png: a palette from before another IHDR changed the colour type");
  }
  const bool packed = rows.kind_ == Kind::kIndexed && header.depth < 8;
  if (packed || rows.kind_ == Kind::kGray16) {
    rows.scratch_.resize(header.width);
  } else if (rows.kind_ == Kind::kGrayAlpha8 || rows.kind_ == Kind::kWithAlpha16) {
    rows.scratch_.resize(size_t{header.width} * 4);
  }
  return rows;
}

Status PngRows::SetPalette(const PngHeader& header, const DecodeOptions& options) {
  const Bytes colors = header.palette.value_or(Bytes());
  const size_t count = colors.size() / 3;
  if (count > 256) {
    return CorruptInput("png: a palette of " + std::to_string(count) + " colours");
  }
  std::array<uint8_t, 256> alphas;
  alphas.fill(255);
  if (LooksAtTransparency(header, options)) {
    const PngTransparency& transparency = header.transparency;
    const bool keeps_alpha = options.alpha != AlphaMode::kDrop;
    if (transparency.kind == TransparencyKind::kAlphas) {
      if (keeps_alpha && transparency.alphas.size() > alphas.size()) return DoesNotFit();
      const size_t known = std::min(transparency.alphas.size(), alphas.size());
      std::copy_n(transparency.alphas.begin(), known, alphas.begin());
    } else if (transparency.kind == TransparencyKind::kValue) {
      if (keeps_alpha ? transparency.value[0] > 255 : !header.palette) return DoesNotFit();
      alphas[std::min(transparency.value[0], 255u)] = 0;
    } else {
      return DoesNotFit();
    }
  }
  for (size_t i = 0; i < 256; ++i) {
    uint8_t rgba[4] = {0, 0, 0, alphas[i]};  // an index beyond the palette is black
    if (i < count) std::copy_n(colors.begin() + 3 * i, 3, rgba);
    palette_.Set(i, rgba, options);
  }
  return Ok{};
}

Status PngRows::SetGray(const PngHeader& header, const DecodeOptions& options) {
  const PngTransparency& transparency = header.transparency;
  const bool look = LooksAtTransparency(header, options);
  if (look && transparency.kind != TransparencyKind::kValue &&
      (options.alpha != AlphaMode::kDrop || transparency.kind != TransparencyKind::kAlphas)) {
    return DoesNotFit();
  }
  // Below 8 bits, samples are spread over 0..255 before Pillow compares them with the transparent
  // value, which it takes as it stands in the file, low byte only.
  const unsigned levels = header.depth < 8 ? (1u << header.depth) - 1 : 255;
  for (unsigned i = 0; i <= levels; ++i) {
    const uint8_t gray = static_cast<uint8_t>(i * (255 / levels));
    const bool clear = look && gray == static_cast<uint8_t>(transparency.value[0]);
    const uint8_t rgba[4] = {gray, gray, gray, clear ? uint8_t{0} : uint8_t{255}};
    palette_.Set(i, rgba, options);
  }
  return Ok{};
}

void PngRows::Convert(const uint8_t* row, size_t count, uint8_t* out) {
  if (row == nullptr) {
    zeros_.resize((count * bits_per_pixel_ + 7) / 8);
    row = zeros_.data();
  }
  switch (kind_) {
    case Kind::kIndexed:
      if (depth_ < 8) {
        UnpackBits(row, depth_, count, scratch_.data());
        row = scratch_.data();
      }
      ThroughPalette(row, count, out);
      return;
    case Kind::kGray16:
      // Clipped, not scaled.
      for (size_t i = 0; i < count; ++i) scratch_[i] = row[2 * i] == 0 ? row[2 * i + 1] : 255;
      ThroughPalette(scratch_.data(), count, out);
      return;
    case Kind::kRgb8:
      std::memcpy(out, row, count * 3);
      break;
    case Kind::kRgb16:
      for (size_t i = 0; i < count * 3; ++i) out[i] = row[2 * i];
      break;
    case Kind::kRgba8:
      RgbaRowToRgb(row, count, options_, out);
      return;
    case Kind::kGrayAlpha8:
    case Kind::kWithAlpha16:
      WithAlphaToRgb(row, count, out);
      return;
  }
  if (!has_transparent_) return;
  for (size_t i = 0; i < count; ++i) {
    if (std::memcmp(out + 3 * i, transparent_, 3) == 0) std::memcpy(out + 3 * i, replacement_, 3);
  }
}

void PngRows::ThroughPalette(const uint8_t* indices, size_t count, uint8_t* out) const {
  if (channels_ == 4) return palette_.ToRgba(indices, count, out);
  palette_.ToRgb(indices, count, out);
}

void PngRows::WithAlphaToRgb(const uint8_t* row, size_t count, uint8_t* rgb) {
  const size_t step = depth_ / 8;  // of 16-bit samples, the high byte, which comes first
  const size_t channels = gray_ ? 2 : 4;
  uint8_t* rgba = scratch_.data();
  for (size_t i = 0; i < count; ++i, row += channels * step, rgba += 4) {
    rgba[0] = row[0];
    rgba[1] = gray_ ? row[0] : row[step];
    rgba[2] = gray_ ? row[0] : row[2 * step];
    rgba[3] = row[(channels - 1) * step];
  }
  RgbaRowToRgb(scratch_.data(), count, options_, rgb);
}

}  // namespace mmcpp::codec
