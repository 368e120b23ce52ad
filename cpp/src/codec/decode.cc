// The front door: tells the format by content, holds the limits against the header before any
// memory is taken, calls the format's decoder and turns the picture if asked.
#include <string>
#include <utility>

#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "codec/formats.h"
#include "codec/orient.h"
#include "codec/sniff.h"
#include "mmcpp/image.h"

namespace mmcpp {
namespace {

Result<ImageInfo> ReadInfo(ImageFormat format, Bytes encoded) {
  switch (format) {
    case ImageFormat::kJpeg:
      return codec::ReadJpegInfo(encoded);
    case ImageFormat::kWebp:
      return codec::ReadWebpInfo(encoded);
    case ImageFormat::kPng:
      return codec::ReadPngInfo(encoded);
    case ImageFormat::kGif:
      return codec::ReadGifInfo(encoded);
    case ImageFormat::kBmp:
      return codec::ReadBmpInfo(encoded);
  }
  return Error{ErrorCode::kInternal, "decode: no such format"};
}

Result<Image> DecodePixels(ImageFormat format, Bytes encoded, const DecodeOptions& options) {
  switch (format) {
    case ImageFormat::kJpeg:
      return codec::DecodeJpeg(encoded, options);
    case ImageFormat::kWebp:
      return codec::DecodeWebp(encoded, options);
    case ImageFormat::kPng:
      return codec::DecodePng(encoded, options);
    case ImageFormat::kGif:
      return codec::DecodeGif(encoded, options);
    case ImageFormat::kBmp:
      return codec::DecodeBmp(encoded, options);
  }
  return Error{ErrorCode::kInternal, "decode: no such format"};
}

Status CheckLimits(const ImageInfo& info, const DecodeLimits& limits) {
  const std::string size = std::string(ImageFormatName(info.format)) + ": " +
                           std::to_string(info.height) + "x" + std::to_string(info.width);
  if (info.height > limits.max_side || info.width > limits.max_side) {
    return LimitExceeded(size + " (height x width) has a side over the limit of " +
                         std::to_string(limits.max_side));
  }
  const uint64_t pixels = static_cast<uint64_t>(info.height) * static_cast<uint64_t>(info.width);
  if (pixels > limits.max_pixels) {
    return LimitExceeded(size + " is " + std::to_string(pixels) + " pixels, over the limit of " +
                         std::to_string(limits.max_pixels));
  }
  return Ok{};
}

Result<Image> Decode(Bytes encoded, const DecodeOptions& options) {
  if (encoded.size() > options.limits.max_encoded_bytes) {
    return LimitExceeded("decode: " + std::to_string(encoded.size()) +
                         " encoded bytes, over the limit of " +
                         std::to_string(options.limits.max_encoded_bytes));
  }
  MMCPP_ASSIGN(const ImageFormat format, codec::SniffFormat(encoded));
  MMCPP_ASSIGN(const ImageInfo info, ReadInfo(format, encoded));
  MMCPP_TRY(CheckLimits(info, options.limits));
  MMCPP_ASSIGN(Image image, DecodePixels(format, encoded, options));
  if (image.height() != info.height || image.width() != info.width) {
    return Error{ErrorCode::kInternal, std::string(ImageFormatName(format)) +
                                           ": decoded to another size than its header gave"};
  }
  if (!options.apply_orientation) return image;
  return codec::ApplyOrientation(std::move(image), info.orientation);
}

}  // namespace

const char* ImageFormatName(ImageFormat format) noexcept {
  switch (format) {
    case ImageFormat::kJpeg:
      return "jpeg";
    case ImageFormat::kPng:
      return "png";
    case ImageFormat::kWebp:
      return "webp";
    case ImageFormat::kGif:
      return "gif";
    case ImageFormat::kBmp:
      return "bmp";
  }
  return "unknown";
}

Result<DecodeOptions> DecodeProfile(const std::string& name) {
  DecodeOptions options;
  if (name == "pillow") return options;
  if (name == "hf") {
    options.alpha = AlphaMode::kComposite;
    return options;
  }
  if (name == "vllm") {
    options.alpha = AlphaMode::kPaste;
    options.apply_orientation = true;
    return options;
  }
  if (name == "sglang") {
    options.deep = DeepMode::kRefuse;
    return options;
  }
  return InvalidArgument("decode: no profile \"" + name +
                         "\"; there are pillow, hf, vllm and sglang");
}

Result<ImageInfo> ReadImageInfo(Bytes encoded) {
  return CatchOutOfMemory([&]() -> Result<ImageInfo> {
    MMCPP_ASSIGN(const ImageFormat format, codec::SniffFormat(encoded));
    return ReadInfo(format, encoded);
  });
}

Result<Image> DecodeImage(Bytes encoded, const DecodeOptions& options) {
  return CatchOutOfMemory([&] { return Decode(encoded, options); });
}

}  // namespace mmcpp
