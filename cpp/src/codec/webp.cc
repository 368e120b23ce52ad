// WebP through libwebp, with the verdicts of Pillow 13, which opens every file as an animation: the
// whole container must be sound, and the first frame stands on a transparent black canvas.
#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/ensure.h"
#include "codec/color.h"
#include "codec/exif.h"
#include "codec/formats.h"

namespace mmcpp::codec {
namespace {

struct DemuxerDelete {
  void operator()(WebPDemuxer* demuxer) const { WebPDemuxDelete(demuxer); }
};
using Demuxer = std::unique_ptr<WebPDemuxer, DemuxerDelete>;

/// The demuxer keeps a record of 64 bytes and more for every chunk, of which 8 bytes suffice in the
/// file. No picture has as many as this: an hour of animation has fewer frames.
constexpr int kMaxChunks = 100'000;

Status CheckChunkCount(Bytes encoded) {
  constexpr size_t kFileHeader = 12, kChunkHeader = 8;
  size_t at = kFileHeader;
  for (int count = 0; encoded.size() > at && encoded.size() - at >= kChunkHeader; ++count) {
    if (count == kMaxChunks) {
      return LimitExceeded("webp: more than the limit of " + std::to_string(kMaxChunks) +
                           " chunks");
    }
    const uint8_t* size = encoded.data() + at + 4;
    const uint64_t payload =
        size[0] | uint64_t{size[1]} << 8 | uint64_t{size[2]} << 16 | uint64_t{size[3]} << 24;
    at += kChunkHeader + payload + (payload & 1);  // padded to an even size
  }
  return Ok{};
}

/// The chunks of the file; null if the container is damaged or, unless `partial`, not whole.
Demuxer OpenDemuxer(Bytes encoded, bool partial) {
  const WebPData data{encoded.data(), encoded.size()};
  if (!partial) return Demuxer(WebPDemux(&data));
  WebPDemuxState state;
  return Demuxer(WebPDemuxPartial(&data, &state));
}

/// The payload of the first chunk of this name, within the encoded bytes; empty if there is none.
Bytes FindChunk(const WebPDemuxer* demuxer, const char* name) {
  WebPChunkIterator chunk;
  Bytes payload;
  if (WebPDemuxGetChunk(demuxer, name, 1, &chunk)) payload = {chunk.chunk.bytes, chunk.chunk.size};
  WebPDemuxReleaseChunkIterator(&chunk);
  return payload;
}

/// Whether Pillow 13 gives the file an alpha channel.
bool HasAlpha(Bytes encoded) {
  WebPBitstreamFeatures features;
  return WebPGetFeatures(encoded.data(), encoded.size(), &features) != VP8_STATUS_OK ||
         features.has_alpha;
}

Error Damaged(VP8StatusCode status, size_t size) {
  const char* what = "damaged bit stream";
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
      // From libwebp 1.3 on a damaged alpha plane gives this too, and no file may look like a
      // failure of the machine.
      what = "damaged bit stream, or no memory for it";
      break;
    case VP8_STATUS_NOT_ENOUGH_DATA:
      what = "frame ends early";
      break;
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      what = "unsupported feature in the bit stream";
      break;
    default:
      break;
  }
  return CorruptInput("webp: " + std::string(what) + ", in " + std::to_string(size) + " bytes");
}

/// One frame's place on the canvas, and its bit stream.
struct Frame {
  Bytes bytes;
  int x = 0, y = 0, height = 0, width = 0;
};

/// Decodes the frame into its place on a canvas of rows of `row_bytes`.
Status DecodeFrame(const Frame& frame, WEBP_CSP_MODE mode, uint8_t* canvas, int canvas_height,
                   size_t row_bytes, size_t pixel_bytes) {
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) {
    return Error{ErrorCode::kInternal, "webp: libwebp of another version than its headers"};
  }
  const size_t offset =
      static_cast<size_t>(frame.y) * row_bytes + static_cast<size_t>(frame.x) * pixel_bytes;
  config.output.colorspace = mode;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = canvas + offset;
  config.output.u.RGBA.stride = static_cast<int>(row_bytes);
  config.output.u.RGBA.size = static_cast<size_t>(canvas_height) * row_bytes - offset;
  const VP8StatusCode status = WebPDecode(frame.bytes.data(), frame.bytes.size(), &config);
  if (status != VP8_STATUS_OK) return Damaged(status, frame.bytes.size());
  return Ok{};
}

Result<Frame> FirstFrame(const WebPDemuxer* demuxer, int canvas_height, int canvas_width) {
  WebPIterator iterator;
  if (!WebPDemuxGetFrame(demuxer, 1, &iterator)) return CorruptInput("webp: no frame");
  const Frame frame{{iterator.fragment.bytes, iterator.fragment.size},
                    iterator.x_offset,
                    iterator.y_offset,
                    iterator.height,
                    iterator.width};
  WebPDemuxReleaseIterator(&iterator);
  // The demuxer has checked this; it keeps the decoder within the canvas.
  MMCPP_ENSURE(frame.x >= 0 && frame.y >= 0 && frame.width <= canvas_width - frame.x &&
               frame.height <= canvas_height - frame.y);
  return frame;
}

/// Decodes to RGBA in the front of one buffer and, unless alpha is kept, takes the colours out in
/// place, so that there is never a second picture: row y is read from 4 * y * width on and written
/// from 3 * y * width on.
Result<Image> DecodeWithAlpha(const Frame& frame, int height, int width,
                              const DecodeOptions& options) {
  const size_t row_bytes = static_cast<size_t>(width) * 4;
  const size_t size = row_bytes * static_cast<size_t>(height);
  MMCPP_ASSIGN(Buffer buffer, Buffer::Allocate(size));
  if (frame.width != width || frame.height != height) std::memset(buffer.data(), 0, size);
  MMCPP_TRY(DecodeFrame(frame, MODE_RGBA, buffer.data(), height, row_bytes, 4));
  RgbaRowToRgb(buffer.data(), static_cast<size_t>(height) * static_cast<size_t>(width), options,
               buffer.data());
  return Image::Adopt(std::move(buffer), height, width, ChannelsOf(options));
}

}  // namespace

Result<ImageInfo> ReadWebpInfo(Bytes encoded) {
  MMCPP_TRY(CheckChunkCount(encoded));
  const Demuxer demuxer = OpenDemuxer(encoded, true);
  const auto get = [&](WebPFormatFeature feature) {
    return demuxer == nullptr ? 0 : static_cast<int>(WebPDemuxGetI(demuxer.get(), feature));
  };
  ImageInfo info;
  info.format = ImageFormat::kWebp;
  info.height = get(WEBP_FF_CANVAS_HEIGHT);
  info.width = get(WEBP_FF_CANVAS_WIDTH);
  if (info.height <= 0 || info.width <= 0) {
    return CorruptInput("webp: damaged or missing header, in " + std::to_string(encoded.size()) +
                        " bytes");
  }
  info.has_alpha = HasAlpha(encoded);
  info.mode = info.has_alpha ? "RGBA" : "RGB";
  info.orientation =
      ReadOrientation(FindChunk(demuxer.get(), "EXIF"), FindChunk(demuxer.get(), "XMP "));
  info.frames = std::max(get(WEBP_FF_FRAME_COUNT), 1);
  return info;
}

Result<Image> DecodeWebp(Bytes encoded, const DecodeOptions& options) {
  MMCPP_TRY(CheckChunkCount(encoded));
  const Demuxer demuxer = OpenDemuxer(encoded, false);
  if (demuxer == nullptr) {
    return CorruptInput("webp: damaged container or truncated file of " +
                        std::to_string(encoded.size()) + " bytes");
  }
  const int height = static_cast<int>(WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_HEIGHT));
  const int width = static_cast<int>(WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_WIDTH));
  MMCPP_ASSIGN(const Frame frame, FirstFrame(demuxer.get(), height, width));
  if (options.alpha != AlphaMode::kDrop && HasAlpha(encoded)) {
    return DecodeWithAlpha(frame, height, width, options);
  }
  // The colours are the same whether or not the alpha beside them is asked for.
  MMCPP_ASSIGN(Image image, Image::Allocate(height, width));
  if (frame.width != width || frame.height != height) {
    std::memset(image.data(), 0, image.row_bytes() * static_cast<size_t>(height));
  }
  MMCPP_TRY(DecodeFrame(frame, MODE_RGB, image.data(), height, image.row_bytes(), 3));
  return image;
}

}  // namespace mmcpp::codec
