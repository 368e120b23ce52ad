// GIF: header and first frame, as Pillow 13.0.0 opens it and converts it to RGB.
//
// The canvas grows to hold the first frame. What the frame leaves free shows its transparent
// colour, or else colour 0.
#include <algorithm>
#include <climits>
#include <cstring>
#include <optional>
#include <string>

#include "base/ensure.h"
#include "codec/color.h"
#include "codec/formats.h"
#include "codec/gif_lzw.h"
#include "codec/palette.h"

namespace mmcpp::codec {
namespace {

constexpr uint8_t kTrailer = ';', kExtension = '!', kImage = ',';
constexpr uint8_t kGraphicControl = 249, kComment = 254, kApplication = 255;

/// Reads as from a Python file: short at the end of it.
struct Reader {
  Bytes file;
  size_t at = 0;

  Bytes Read(size_t size) {
    size = std::min(size, file.size() - at);
    at += size;
    return file.subspan(at - size, size);
  }
  /// A sub-block; nothing for a terminator or at the end of the file.
  std::optional<Bytes> Block() {
    const Bytes size = Read(1);
    if (size.empty() || size[0] == 0) return std::nullopt;
    return Read(size[0]);
  }
  void SkipBlocks() {
    for (auto block = Block(); block && !block->empty();) block = Block();
  }
};

unsigned LittleEndian16(const uint8_t* p) { return p[0] | unsigned{p[1]} << 8; }

struct Frame {
  unsigned y = 0, x = 0, height = 0, width = 0;
  bool interlaced = false;
  bool has_palette = false;  ///< of its own
  Bytes palette;             ///< RGB
  int transparent = -1;      ///< an index
  int code_bits = 0;
  size_t data = 0;  ///< offset of the first sub-block
};

Error Broken(const Reader& reader, const std::string& what) {
  return CorruptInput("gif: " + what + " at byte " + std::to_string(reader.at) + " of " +
                      std::to_string(reader.file.size()));
}

Status ReadExtension(Reader* reader, bool first_frame, Frame* frame) {
  const Bytes label = reader->Read(1);
  const std::optional<Bytes> block = reader->Block();
  if (label.empty()) return Broken(*reader, "ends in an extension");
  if (label[0] == kGraphicControl && block) {
    // Its flags, the delay, and the transparent index if the flags say that there is one.
    if (block->size() < 3 || ((*block)[0] % 2 == 1 && block->size() < 4)) {
      return Broken(*reader, "a graphic control extension that is too short");
    }
    if ((*block)[0] % 2 == 1) frame->transparent = (*block)[3];
  } else if (label[0] == kComment) {
    if (block && !block->empty()) reader->SkipBlocks();
    return Ok{};
  } else if (label[0] == kApplication && first_frame && block) {
    constexpr char kLoop[] = "NETSCAPE2.0";
    constexpr size_t kLength = sizeof kLoop - 1;
    if (block->size() >= kLength && std::memcmp(block->data(), kLoop, kLength) == 0) {
      (void)reader->Block();
    }
  }
  // Reads sub-blocks even after a terminator was seen, as Pillow does.
  reader->SkipBlocks();
  return Ok{};
}

Status ReadImage(Reader* reader, Frame* frame) {
  const Bytes descriptor = reader->Read(9);
  if (descriptor.size() < 9) return Broken(*reader, "ends in an image descriptor");
  frame->x = LittleEndian16(descriptor.data());  // x and width first
  frame->y = LittleEndian16(descriptor.data() + 2);
  frame->width = LittleEndian16(descriptor.data() + 4);
  frame->height = LittleEndian16(descriptor.data() + 6);
  const unsigned flags = descriptor[8];
  frame->interlaced = (flags & 64) != 0;
  if ((flags & 128) != 0) {
    frame->has_palette = true;
    const size_t size = size_t{3} << ((flags & 7) + 1);
    frame->palette = reader->Read(size);
    if (frame->palette.size() < size) return Broken(*reader, "ends in a palette");
  }
  const Bytes bits = reader->Read(1);
  if (bits.empty()) return Broken(*reader, "ends before its pixels");
  frame->code_bits = bits[0];
  frame->data = reader->at;
  return Ok{};
}

/// The next frame, with the extensions before it; nothing when there is none.
Result<std::optional<Frame>> ReadFrame(Reader* reader, bool first_frame) {
  Frame frame;
  for (;;) {
    const Bytes mark = reader->Read(1);
    if (mark.empty() || mark[0] == kTrailer) return std::optional<Frame>();
    if (mark[0] == kExtension) {
      MMCPP_TRY(ReadExtension(reader, first_frame, &frame));
    } else if (mark[0] == kImage) {
      MMCPP_TRY(ReadImage(reader, &frame));
      return std::optional<Frame>(frame);
    }
  }
}

/// Pillow drops a palette in which every colour is the gray of its own index.
bool IsGrayRamp(Bytes palette) {
  for (size_t i = 0; i < palette.size(); ++i) {
    if (palette[i] != i / 3) return false;
  }
  return true;
}

struct Header {
  unsigned height = 0, width = 0;  ///< of the canvas, grown to hold the frame
  Bytes palette;                   ///< global; empty if there is none, or only a gray ramp
  Frame frame;                     ///< the first
  Bytes shown_palette;             ///< what the indices are seen through; empty for gray
  bool is_gray = false;            ///< Pillow's mode is L
};

Result<Header> ReadHeader(Reader* reader) {
  Header header;
  const Bytes screen = reader->Read(13);
  if (screen.size() < 13) return Broken(*reader, "ends in its header");
  header.width = LittleEndian16(screen.data() + 6);  // width first
  header.height = LittleEndian16(screen.data() + 8);
  const unsigned flags = screen[10];
  if ((flags & 128) != 0) {
    const size_t size = size_t{3} << ((flags & 7) + 1);
    const Bytes palette = reader->Read(size);
    if (palette.size() < size) return Broken(*reader, "ends in a palette");
    if (!IsGrayRamp(palette)) header.palette = palette;
  }
  MMCPP_ASSIGN(const std::optional<Frame> frame, ReadFrame(reader, true));
  if (!frame) return Broken(*reader, "no picture");
  header.frame = *frame;
  header.width = std::max(header.width, frame->x + frame->width);
  header.height = std::max(header.height, frame->y + frame->height);
  if (header.width == 0 || header.height == 0) {
    return CorruptInput("gif: a size of " + std::to_string(header.height) + "x" +
                        std::to_string(header.width) + " pixels (height x width)");
  }
  const bool own = frame->has_palette && !IsGrayRamp(frame->palette);
  header.shown_palette = own ? frame->palette : header.palette;
  // A gray ramp of the frame's own makes it gray, and still Pillow shows it through the global
  // palette.
  header.is_gray = frame->has_palette ? !own : header.palette.empty();
  return header;
}

Result<Palette> ColorsOf(const Header& header, const DecodeOptions& options) {
  const int transparent = header.frame.transparent;
  const Bytes& colors = header.shown_palette;
  // Pillow cannot bring this to RGBA, unless it has copied the picture before, as vLLM lets it and
  // as it does when it turns a picture.
  const bool to_rgba = options.alpha == AlphaMode::kComposite || options.alpha == AlphaMode::kKeep;
  if (to_rgba && !options.apply_orientation && transparent >= 0 && header.is_gray &&
      !colors.empty()) {
    return CorruptInput("gif: transparency of a gray frame under a colour palette");
  }
  Palette palette;
  for (size_t i = 0; i < 256; ++i) {
    const uint8_t gray = static_cast<uint8_t>(i);
    uint8_t rgba[4] = {gray, gray, gray, 255};
    if (!colors.empty()) {
      const bool known = 3 * i < colors.size();
      for (size_t c = 0; c < 3; ++c) rgba[c] = known ? colors[3 * i + c] : uint8_t{0};
    }
    if (static_cast<int>(i) == transparent) rgba[3] = 0;
    palette.Set(i, rgba, options);
  }
  return palette;
}

/// Gives `index` to what the frame does not cover.
void FillAround(const Header& header, uint8_t index, uint8_t* indices) {
  const Frame& frame = header.frame;
  const size_t width = header.width;
  std::memset(indices, index, frame.y * width);
  for (size_t y = frame.y; y < frame.y + frame.height; ++y) {
    uint8_t* row = indices + y * width;
    std::memset(row, index, frame.x);
    std::memset(row + frame.x + frame.width, index, width - frame.x - frame.width);
  }
  const size_t bottom = frame.y + frame.height;
  std::memset(indices + bottom * width, index, (header.height - bottom) * width);
}

}  // namespace

Result<ImageInfo> ReadGifInfo(Bytes encoded) {
  Reader reader{encoded};
  MMCPP_ASSIGN(const Header header, ReadHeader(&reader));
  ImageInfo info;
  info.format = ImageFormat::kGif;
  info.height = static_cast<int>(header.height);
  info.width = static_cast<int>(header.width);
  info.mode = header.is_gray ? "L" : "P";
  info.has_alpha = header.frame.transparent >= 0;
  for (;;) {  // the others, as far as they can be told
    reader.SkipBlocks();
    const auto frame = ReadFrame(&reader, false);
    if (!frame.ok() || !*frame || info.frames == INT_MAX) return info;
    ++info.frames;
  }
}

Result<Image> DecodeGif(Bytes encoded, const DecodeOptions& options, const Stop& stop) {
  Reader reader{encoded};
  MMCPP_ASSIGN(const Header header, ReadHeader(&reader));
  const Frame& frame = header.frame;
  if (frame.height == 0 || frame.width == 0) return CorruptInput("gif: an empty first frame");
  MMCPP_ASSIGN(const Palette palette, ColorsOf(header, options));
  const int channels = ChannelsOf(options);
  MMCPP_ASSIGN(Image image, Image::Allocate(static_cast<int>(header.height),
                                            static_cast<int>(header.width), channels));
  // Indices stand at the end of the pixels' memory, where rows of pixels written in order come only
  // when they have been read.
  const size_t width = header.width;
  uint8_t* indices = image.data() + (image.row_bytes() - width) * header.height;
  const GifTarget target = {indices + frame.y * width + frame.x, width, frame.height, frame.width,
                            frame.interlaced};
  MMCPP_TRY(DecodeGifData(encoded, frame.data, frame.code_bits, target, stop));
  FillAround(header, static_cast<uint8_t>(std::max(frame.transparent, 0)), indices);
  for (int y = 0; y < image.height(); ++y) {
    const uint8_t* row = indices + static_cast<size_t>(y) * width;
    if (channels == 4) {
      palette.ToRgba(row, width, image.row(y));
    } else {
      palette.ToRgb(row, width, image.row(y));
    }
  }
  return image;
}

}  // namespace mmcpp::codec
