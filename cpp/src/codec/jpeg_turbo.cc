// JPEGs of any kind through libjpeg-turbo with the settings and the verdicts of Pillow 13: accurate
// integer IDCT, smooth chroma upsampling, four components taken as inverted CMYK.
//
// Pillow feeds libjpeg from a source that suspends, 64 KiB more at a time. Which damage is noticed,
// and whether a file that lacks its end is refused, follows from that, so the same is done here;
// the bytes stay where they are and only the end that libjpeg sees moves.
// jpeglib.h uses what the headers before it declare.
// clang-format off
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include "codec/jpeg_turbo.h"

#include <algorithm>
#include <csetjmp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "codec/color.h"

namespace mmcpp::codec {
namespace {

constexpr size_t kFeedBytes = 65'536;  // Pillow 13's ImageFile.MAXBLOCK
constexpr int kRowsPerCall = 16;  // at least what libjpeg has ready at once, 8 rows of 2 samples

/// How often a decode may run over all of a picture's blocks. Real progressive files have up to
/// about 20 scans; libjpeg-turbo's own tools call more than 500 hostile. Of big pictures fewer are
/// allowed, so that a small file cannot buy minutes of work.
int MaxScans(uint64_t pixels) {
  constexpr uint64_t kMaxScannedPixels = 10'000'000'000;
  return static_cast<int>(
      std::clamp<uint64_t>(kMaxScannedPixels / std::max<uint64_t>(pixels, 1), 50, 500));
}

/// libjpeg's state and ours, all of it plain: longjmp may leave any function that works on it.
struct Reader {
  jpeg_decompress_struct cinfo;
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  jpeg_source_mgr source;
  std::jmp_buf on_error;
  const uint8_t* data;
  size_t size;
  size_t fed;   // bytes of `data` that libjpeg has been shown
  size_t skip;  // bytes that libjpeg wants skipped beyond those
  int max_scans;
  bool too_many_scans;
  Stop stop;
  bool stopped;
  char message[JMSG_LENGTH_MAX];
};

enum class Outcome { kDone, kEnded, kFailed };

Reader* ReaderOf(j_common_ptr cinfo) { return static_cast<Reader*>(cinfo->client_data); }
Reader* ReaderOf(j_decompress_ptr cinfo) { return static_cast<Reader*>(cinfo->client_data); }

// Callbacks of libjpeg, called between C frames.
extern "C" {

static void OnError(j_common_ptr cinfo) {
  Reader* reader = ReaderOf(cinfo);
  cinfo->err->format_message(cinfo, reader->message);
  std::longjmp(reader->on_error, 1);
}
static void OnMessage(j_common_ptr) {}
static void OnWarning(j_common_ptr, int) {}
static void OnSource(j_decompress_ptr) {}
static boolean OnEmpty(j_decompress_ptr) { return FALSE; }  // suspends

static void OnSkip(j_decompress_ptr cinfo, long count) {
  jpeg_source_mgr* source = cinfo->src;
  const size_t wanted = static_cast<size_t>(count);
  const size_t taken = std::min(wanted, source->bytes_in_buffer);
  source->next_input_byte += taken;
  source->bytes_in_buffer -= taken;
  ReaderOf(cinfo)->skip = wanted - taken;
}

static void OnProgress(j_common_ptr cinfo) {
  Reader* reader = ReaderOf(cinfo);
  reader->too_many_scans = reader->cinfo.input_scan_number > reader->max_scans;
  reader->stopped = reader->stop.IsDue();
  if (reader->too_many_scans || reader->stopped) std::longjmp(reader->on_error, 1);
}

}  // extern "C"

/// Shows libjpeg another 64 KiB; false if there are none left.
bool Feed(Reader* reader) {
  do {
    if (reader->fed == reader->size) return false;
    const size_t count = std::min(kFeedBytes, reader->size - reader->fed);
    reader->fed += count;
    reader->source.bytes_in_buffer += count;
    if (reader->skip > 0) OnSkip(&reader->cinfo, static_cast<long>(reader->skip));
  } while (reader->skip > 0);
  return true;
}

// The three steps below own no C++ object: an error in libjpeg jumps out of them.

Outcome ReadHeader(Reader* reader) {
  if (setjmp(reader->on_error) != 0) return Outcome::kFailed;
  jpeg_decompress_struct* cinfo = &reader->cinfo;
  cinfo->err = jpeg_std_error(&reader->errors);
  reader->errors.error_exit = OnError;
  reader->errors.output_message = OnMessage;
  reader->errors.emit_message = OnWarning;
  cinfo->client_data = reader;
  jpeg_create_decompress(cinfo);
  reader->progress.progress_monitor = OnProgress;
  cinfo->progress = &reader->progress;
  reader->source.next_input_byte = reader->data;
  reader->source.bytes_in_buffer = 0;
  reader->source.init_source = OnSource;
  reader->source.fill_input_buffer = OnEmpty;
  reader->source.skip_input_data = OnSkip;
  reader->source.resync_to_restart = jpeg_resync_to_restart;
  reader->source.term_source = OnSource;
  cinfo->src = &reader->source;
  for (;;) {
    const int got = jpeg_read_header(cinfo, FALSE);
    if (got == JPEG_HEADER_OK) return Outcome::kDone;
    if (got == JPEG_SUSPENDED && !Feed(reader)) return Outcome::kEnded;
  }
}

Outcome Start(Reader* reader, J_COLOR_SPACE colors) {
  if (setjmp(reader->on_error) != 0) return Outcome::kFailed;
  reader->cinfo.out_color_space = colors;
  while (!jpeg_start_decompress(&reader->cinfo)) {
    if (!Feed(reader)) return Outcome::kEnded;
  }
  return Outcome::kDone;
}

/// Reads the rows [begin, end) into rows[0], rows[1], ...
Outcome ReadRows(Reader* reader, JSAMPROW* rows, JDIMENSION begin, JDIMENSION end) {
  if (setjmp(reader->on_error) != 0) return Outcome::kFailed;
  while (reader->cinfo.output_scanline < end) {
    const JDIMENSION next = reader->cinfo.output_scanline;
    if (jpeg_read_scanlines(&reader->cinfo, rows + (next - begin), end - next) > 0) continue;
    if (!Feed(reader)) return Outcome::kEnded;
  }
  return Outcome::kDone;
}

/// What follows the last row may be damaged, but need not be there.
Outcome Finish(Reader* reader) {
  if (setjmp(reader->on_error) != 0) return Outcome::kFailed;
  jpeg_finish_decompress(&reader->cinfo);
  return Outcome::kDone;
}

/// Owns a Reader on behalf of the steps above.
class JpegRows final : public RowSource {
 public:
  JpegRows(Bytes encoded, const JpegHeader& header, const Stop& stop)
      : RowSource(header.height, header.width), components_(header.components) {
    reader_.data = encoded.data();
    reader_.size = encoded.size();
    reader_.stop = stop;
    reader_.max_scans =
        MaxScans(static_cast<uint64_t>(header.height) * static_cast<uint64_t>(header.width));
  }
  ~JpegRows() override {
    jpeg_destroy_decompress(&reader_.cinfo);  // nothing to do if never created
  }

  /// Reads up to the first row; of a progressive picture, all scans.
  Status Begin() {
    MMCPP_TRY(Check(ReadHeader(&reader_)));
    const jpeg_decompress_struct& cinfo = reader_.cinfo;
    if (cinfo.image_height != static_cast<JDIMENSION>(height()) ||
        cinfo.image_width != static_cast<JDIMENSION>(width()) ||
        cinfo.num_components != components_) {
      return CorruptInput("jpeg: two frame headers that differ");
    }
    // libjpeg gives a gray picture as RGB by repeating its samples.
    return Check(Start(&reader_, IsCmyk() ? JCS_CMYK : JCS_RGB));
  }

  Status Read(int rows, uint8_t* dst, size_t row_bytes) override {
    const int begin = static_cast<int>(reader_.cinfo.output_scanline);
    MMCPP_ENSURE(rows <= height() - begin);
    MMCPP_TRY(IsCmyk() ? ReadCmyk(begin, begin + rows, dst, row_bytes)
                       : ReadRgb(begin, begin + rows, dst, row_bytes));
    return begin + rows < height() ? Ok{} : Check(Finish(&reader_));
  }

 private:
  bool IsCmyk() const { return components_ == 4; }

  Status ReadRgb(int y, int end, uint8_t* dst, size_t row_bytes) {
    JSAMPROW rows[kRowsPerCall];
    while (y < end) {
      const int begin = y;
      for (; y < std::min(begin + kRowsPerCall, end); ++y, dst += row_bytes) rows[y - begin] = dst;
      MMCPP_TRY(Check(
          ReadRows(&reader_, rows, static_cast<JDIMENSION>(begin), static_cast<JDIMENSION>(y))));
    }
    return Ok{};
  }

  Status ReadCmyk(int y, int end, uint8_t* dst, size_t row_bytes) {
    const size_t count = static_cast<size_t>(width());
    cmyk_.resize(count * 4);
    JSAMPROW row = cmyk_.data();
    for (; y < end; ++y, dst += row_bytes) {
      MMCPP_TRY(Check(
          ReadRows(&reader_, &row, static_cast<JDIMENSION>(y), static_cast<JDIMENSION>(y + 1))));
      InvertedCmykRowToRgb(cmyk_.data(), count, dst);
    }
    return Ok{};
  }

  Status Check(Outcome outcome) const {
    if (outcome == Outcome::kDone) return Ok{};
    const std::string size = std::to_string(reader_.size);
    const std::string row = "in row " + std::to_string(reader_.cinfo.output_scanline) + " of " +
                            std::to_string(height());
    if (outcome == Outcome::kEnded) {
      return CorruptInput("jpeg: ends at byte " + size + ", " + row);
    }
    if (reader_.stopped) {
      MMCPP_TRY(reader_.stop.Check("decode"));
      return Error{ErrorCode::kCancelled, "decode: the request was cancelled"};
    }
    if (reader_.too_many_scans) {
      return LimitExceeded("jpeg: more than " + std::to_string(reader_.max_scans) +
                           " scans over a picture of " + std::to_string(height()) + "x" +
                           std::to_string(width()) + " (height x width)");
    }
    const std::string where = ", at byte " +
                              std::to_string(reader_.source.next_input_byte - reader_.data) +
                              " of " + size + ", " + row;
    switch (reader_.errors.msg_code) {
      case JERR_OUT_OF_MEMORY:
        return Error{ErrorCode::kOutOfMemory, "jpeg: out of memory"};
      case JERR_CANT_SUSPEND:
        // An arithmetic decoder cannot stop for more bytes, so Pillow takes no large files of it.
        return Unsupported("jpeg: arithmetic coding beyond the first " +
                           std::to_string(reader_.fed) + " bytes" + where);
      case JERR_ARITH_NOTIMPL:
      case JERR_BAD_MCU_SIZE:
      case JERR_CONVERSION_NOTIMPL:
      case JERR_FRACT_SAMPLE_NOTIMPL:
      case JERR_NOTIMPL:
      case JERR_SOF_UNSUPPORTED:
        return Unsupported("jpeg: " + Message() + where);
      default:
        return CorruptInput("jpeg: " + Message() + where);
    }
  }

  /// libjpeg's message in our style.
  std::string Message() const {
    std::string message = reader_.message;
    if (!message.empty() && message[0] >= 'A' && message[0] <= 'Z') message[0] += 'a' - 'A';
    return message;
  }

  const int components_;
  Reader reader_ = {};
  std::vector<uint8_t> cmyk_;  // one row
};

}  // namespace

Result<std::unique_ptr<RowSource>> OpenTurboJpeg(Bytes encoded, const JpegHeader& header,
                                                 const Stop& stop) {
  auto rows = std::make_unique<JpegRows>(encoded, header, stop);
  MMCPP_TRY(rows->Begin());
  return std::unique_ptr<RowSource>(std::move(rows));
}

}  // namespace mmcpp::codec
