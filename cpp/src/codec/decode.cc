// The front door: tells the format by content, holds the limits against the header before any
// memory is taken, calls the format's decoder and turns the picture if asked.
#include "codec/decode.h"

#include <string>
#include <utility>

#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "base/row_source.h"
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

Result<Image> DecodePixels(ImageFormat format, Bytes encoded, const DecodeOptions& options,
                           const Stop& stop) {
  switch (format) {
    case ImageFormat::kJpeg:
      return codec::DecodeJpeg(encoded, stop);
    case ImageFormat::kWebp:
      return codec::DecodeWebp(encoded, options);
    case ImageFormat::kPng:
      return codec::DecodePng(encoded, options, stop);
    case ImageFormat::kGif:
      return codec::DecodeGif(encoded, options, stop);
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

/// What the header says, once the limits are held against it.
Result<ImageInfo> ReadCheckedInfo(Bytes encoded, const DecodeLimits& limits) {
  if (encoded.size() > limits.max_encoded_bytes) {
    return LimitExceeded("decode: " + std::to_string(encoded.size()) +
                         " encoded bytes, over the limit of " +
                         std::to_string(limits.max_encoded_bytes));
  }
  MMCPP_ASSIGN(const ImageFormat format, codec::SniffFormat(encoded));
  MMCPP_ASSIGN(ImageInfo info, ReadInfo(format, encoded));
  MMCPP_TRY(CheckLimits(info, limits));
  return info;
}

/// Decoders keep alpha of whatever has any; which files count as having some is decided here.
DecodeOptions ForFile(Bytes encoded, const DecodeOptions& options, const ImageInfo& info) {
  DecodeOptions resolved = options;
  if (options.alpha != AlphaMode::kKeep) return resolved;
  const bool has_alpha =
      info.has_alpha || (info.format == ImageFormat::kPng && codec::HasPngTransparency(encoded));
  if (!has_alpha || info.mode == "RGB") resolved.alpha = AlphaMode::kDrop;
  return resolved;
}

template <class Pixels>
Status CheckSize(const Pixels& pixels, const ImageInfo& info) {
  if (pixels.height() == info.height && pixels.width() == info.width) return Ok{};
  return Error{ErrorCode::kInternal, std::string(ImageFormatName(info.format)) +
                                         ": decoded to another size than its header gave"};
}

Result<Image> DecodeChecked(Bytes encoded, const DecodeOptions& options, const Stop& stop,
                            const ImageInfo& info) {
  MMCPP_ASSIGN(Image image, DecodePixels(info.format, encoded, options, stop));
  MMCPP_TRY(CheckSize(image, info));
  if (!options.apply_orientation) return image;
  return codec::ApplyOrientation(std::move(image), info.orientation);
}

/// Null where the format or the orientation needs the picture as a whole.
Result<std::unique_ptr<RowSource>> OpenInOrder(Bytes encoded, const DecodeOptions& options,
                                               const Stop& stop, const ImageInfo& info) {
  if (options.apply_orientation && info.orientation != 1) return std::unique_ptr<RowSource>();
  switch (info.format) {
    case ImageFormat::kJpeg:
      return codec::OpenJpeg(encoded, stop);
    case ImageFormat::kPng:
      return codec::OpenPng(encoded, options, stop);
    case ImageFormat::kBmp:
      return codec::OpenBmp(encoded, options);
    case ImageFormat::kWebp:
    case ImageFormat::kGif:
      break;
  }
  return std::unique_ptr<RowSource>();
}

Result<std::unique_ptr<RowSource>> OpenChecked(Bytes encoded, const DecodeOptions& options,
                                               const Stop& stop, const ImageInfo& info) {
  MMCPP_ASSIGN(std::unique_ptr<RowSource> rows, OpenInOrder(encoded, options, stop, info));
  if (rows != nullptr) {
    MMCPP_TRY(CheckSize(*rows, info));
    return rows;
  }
  MMCPP_ASSIGN(Image image, DecodeChecked(encoded, options, stop, info));
  rows = std::make_unique<WholeRows>(std::move(image));
  return rows;
}

Status CheckOutput(const ImageSpan& out, const ImageInfo& info, const DecodeOptions& options) {
  int height = info.height, width = info.width;
  // EXIF orientations from 5 on exchange rows and columns.
  if (options.apply_orientation && info.orientation >= 5) std::swap(height, width);
  if (out.height != height || out.width != width) {
    return InvalidArgument("decode: an output of " + std::to_string(out.height) + "x" +
                           std::to_string(out.width) + " for a picture of " +
                           std::to_string(height) + "x" + std::to_string(width) +
                           " (height x width)");
  }
  if (out.data == nullptr || out.row_bytes < static_cast<size_t>(width) * 3) {
    return InvalidArgument("decode: an output without room for rows of " + std::to_string(width) +
                           " pixels");
  }
  return Ok{};
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
  return CatchOutOfMemory([&]() -> Result<Image> {
    MMCPP_ASSIGN(const ImageInfo info, ReadCheckedInfo(encoded, options.limits));
    return DecodeChecked(encoded, ForFile(encoded, options, info), {}, info);
  });
}

Status DecodeImageInto(Bytes encoded, const DecodeOptions& options, const ImageSpan& out) {
  return CatchOutOfMemory([&]() -> Status {
    MMCPP_ASSIGN(const ImageInfo info, ReadCheckedInfo(encoded, options.limits));
    if (options.alpha == AlphaMode::kKeep) {
      return InvalidArgument("decode: an output of three channels, and alpha to be kept");
    }
    MMCPP_TRY(CheckOutput(out, info, options));
    MMCPP_ASSIGN(const auto rows, OpenChecked(encoded, options, {}, info));
    return rows->Read(out.height, out.data, out.row_bytes);
  });
}

Result<codec::OpenedImage> codec::OpenImage(Bytes encoded, const DecodeOptions& options,
                                            const Stop& stop) {
  return CatchOutOfMemory([&]() -> Result<OpenedImage> {
    OpenedImage opened;
    MMCPP_ASSIGN(opened.info, ReadCheckedInfo(encoded, options.limits));
    MMCPP_ASSIGN(opened.rows,
                 OpenChecked(encoded, ForFile(encoded, options, opened.info), stop, opened.info));
    return opened;
  });
}

}  // namespace mmcpp
