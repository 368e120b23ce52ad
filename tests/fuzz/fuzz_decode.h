// What every decode target checks: the limits hold, the answer is whole, an error says something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "mmcpp/image.h"

namespace mmcpp::fuzz {

/// Ends the run, so that the fuzzer keeps the input.
inline void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

/// Limits under which one input takes milliseconds.
inline DecodeLimits SmallLimits() {
  DecodeLimits limits;
  limits.max_encoded_bytes = size_t{1} << 20;
  limits.max_pixels = uint64_t{1} << 18;
  return limits;
}

inline void CheckError(const Error& error) {
  Require(!error.message.empty(), "an error has a message");
  Require(error.code != ErrorCode::kInternal, "no input is an internal error");
  for (char c : error.message) Require(c != '\n' && c != '\0', "a message is one line of text");
}

/// Into the caller's memory, and so row by row where the format allows it, comes the same picture
/// or the same error.
inline void CheckInto(Bytes encoded, const DecodeOptions& options, const ImageInfo& info,
                      const Result<Image>& want) {
  if (!want.ok() && want.error().code == ErrorCode::kLimitExceeded) return;  // no size to hold
  const bool swapped = options.apply_orientation && info.orientation >= 5;
  const int height = swapped ? info.width : info.height;
  const int width = swapped ? info.height : info.width;
  const size_t row_bytes = static_cast<size_t>(width) * 3 + 1;
  std::vector<uint8_t> memory(static_cast<size_t>(height) * row_bytes, 0xa5);
  const ImageSpan out = {memory.data(), height, width, row_bytes};
  const Status status = DecodeImageInto(encoded, options, out);
  Require(status.ok() == want.ok(), "both ways of decoding have one verdict");
  if (!want.ok()) {
    Require(
        status.error().code == want.error().code && status.error().message == want.error().message,
        "both ways of decoding fail alike");
    return;
  }
  for (int y = 0; y < height; ++y) {
    Require(std::memcmp(out.row(y), want->row(y), row_bytes - 1) == 0 &&
                out.row(y)[row_bytes - 1] == 0xa5,
            "both ways of decoding give the same pixels");
  }
}

/// Every byte is written: a sanitizer that knows of uninitialised memory sees this use.
inline void UseEveryByte(const Image& image) {
  const size_t size = static_cast<size_t>(image.height()) * image.row_bytes();
  uint32_t sum = 0;
  for (size_t i = 0; i < size; ++i) sum += image.data()[i];
  volatile uint32_t sink = sum;
  (void)sink;
}

/// Reads the header, decodes with these options, and with alpha kept, and holds these against each
/// other.
inline void CheckDecode(Bytes encoded, const DecodeOptions& options) {
  const auto info = ReadImageInfo(encoded);
  if (info.ok()) {
    Require(info->height > 0 && info->width > 0, "a picture has a size");
    Require(info->orientation >= 1 && info->orientation <= 8, "orientation is 1 to 8");
    Require(info->frames >= 1 && !info->mode.empty(), "a picture has a frame and a mode");
  } else {
    CheckError(info.error());
  }
  const auto image = DecodeImage(encoded, options);
  if (info.ok()) CheckInto(encoded, options, *info, image);
  if (!image.ok()) return CheckError(image.error());
  Require(info.ok(), "what can be decoded has a header");
  const bool swapped = options.apply_orientation && info->orientation >= 5;
  Require(image->height() == (swapped ? info->width : info->height) &&
              image->width() == (swapped ? info->height : info->width),
          "the header gives the size");
  Require(image->height() <= options.limits.max_side && image->width() <= options.limits.max_side &&
              static_cast<uint64_t>(image->height()) * static_cast<uint64_t>(image->width()) <=
                  options.limits.max_pixels,
          "the limits hold");
  UseEveryByte(*image);
  DecodeOptions keep = options;
  keep.alpha = AlphaMode::kKeep;
  const auto kept = DecodeImage(encoded, keep);
  if (!kept.ok()) return CheckError(kept.error());
  Require(kept->channels() == 3 || info->has_alpha, "a fourth channel is alpha");
  UseEveryByte(*kept);
}

/// The options of the profile that the input's size picks.
inline DecodeOptions PickOptions(size_t size) {
  static const char* const kProfiles[] = {"pillow", "hf", "vllm", "sglang"};
  DecodeOptions options = DecodeProfile(kProfiles[size % 4]).value();
  options.limits = SmallLimits();
  return options;
}

/// One input for the decoder of one format: `magic` stands where the bytes do not have it already.
inline int CheckFormat(const uint8_t* data, size_t size, const std::vector<uint8_t>& magic,
                       size_t offset = 0) {
  std::vector<uint8_t> bytes(data, data + size);
  if (bytes.size() < offset + magic.size()) bytes.resize(offset + magic.size());
  for (size_t i = 0; i < magic.size(); ++i) bytes[offset + i] = magic[i];
  CheckDecode(bytes, PickOptions(size));
  return 0;
}

}  // namespace mmcpp::fuzz
