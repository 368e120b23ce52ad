// JPEG: plain baseline pictures by the decoder of this library, and everything else, damage
// included, by libjpeg-turbo, which so has the last word on every verdict.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "base/row_source.h"
#include "codec/exif.h"
#include "codec/formats.h"
#include "codec/jpeg_baseline.h"
#include "codec/jpeg_header.h"
#include "codec/jpeg_turbo.h"

namespace mmcpp::codec {
namespace {

/// Rows of the baseline decoder for as long as it gives them, then of libjpeg-turbo. What the
/// former gave came from sound data above what it would not take, and such rows are the latter's
/// too: it decodes the same blocks from the same bytes before it comes to those.
class JpegRows final : public RowSource {
 public:
  JpegRows(Bytes encoded, const JpegHeader& header, const Stop& stop,
           std::unique_ptr<BaselineJpeg> baseline)
      : RowSource(header.height, header.width),
        encoded_(encoded),
        header_(header),
        stop_(stop),
        baseline_(std::move(baseline)) {}

  Status Read(int rows, uint8_t* dst, size_t row_bytes) override {
    MMCPP_ENSURE(rows <= height() - y_);
    if (baseline_ != nullptr) {
      const int got = baseline_->Read(rows, dst, row_bytes);
      y_ += got;
      if (got == rows) return Ok{};
      rows -= got;
      dst += static_cast<size_t>(got) * row_bytes;
      baseline_.reset();
      MMCPP_TRY(StartAgain());
    }
    MMCPP_TRY(turbo_->Read(rows, dst, row_bytes));
    y_ += rows;
    return Ok{};
  }

 private:
  Status StartAgain() {
    MMCPP_ASSIGN(turbo_, OpenTurboJpeg(encoded_, header_, stop_));
    std::vector<uint8_t> row(static_cast<size_t>(width()) * 3);
    for (int y = 0; y < y_; ++y) MMCPP_TRY(turbo_->Read(1, row.data(), row.size()));
    return Ok{};
  }

  const Bytes encoded_;
  const JpegHeader header_;
  const Stop stop_;
  std::unique_ptr<BaselineJpeg> baseline_;
  std::unique_ptr<RowSource> turbo_;
  int y_ = 0;
};

}  // namespace

Result<ImageInfo> ReadJpegInfo(Bytes encoded) {
  MMCPP_ASSIGN(const JpegHeader header, ReadJpegHeader(encoded, false));
  ImageInfo info;
  info.format = ImageFormat::kJpeg;
  info.height = header.height;
  info.width = header.width;
  info.mode = header.components == 1 ? "L" : header.components == 3 ? "RGB" : "CMYK";
  info.orientation = ReadOrientation(header.exif, header.xmp);
  info.frames = header.frames;
  return info;
}

Result<std::unique_ptr<RowSource>> OpenJpeg(Bytes encoded, const Stop& stop) {
  MMCPP_ASSIGN(JpegHeader header, ReadJpegHeader(encoded, true));
  header.exif = {};  // read by ReadJpegInfo
  MMCPP_ASSIGN(auto baseline, BaselineJpeg::Open(encoded, header));
  if (baseline == nullptr) return OpenTurboJpeg(encoded, header, stop);
  return std::unique_ptr<RowSource>(
      std::make_unique<JpegRows>(encoded, header, stop, std::move(baseline)));
}

Result<Image> DecodeJpeg(Bytes encoded, const Stop& stop) {
  MMCPP_ASSIGN(const auto rows, OpenJpeg(encoded, stop));
  return ReadAll(rows.get());
}

}  // namespace mmcpp::codec
