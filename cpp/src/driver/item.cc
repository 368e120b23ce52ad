// One item: plan, decode and process, and hash beside them. Where the format allows it the family
// takes rows as they are decoded, so that the picture never exists as a whole.
#include "driver/item.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/checked.h"
#include "base/row_source.h"
#include "base/stopwatch.h"
#include "codec/decode.h"
#include "mmcpp/hash.h"
#include "par/par.h"

namespace mmcpp::driver {
namespace {

Status CheckPixels(const ImageView& view) {
  if (view.data == nullptr) return InvalidArgument("pixels: null data");
  if (view.height <= 0 || view.width <= 0) {
    return InvalidArgument("pixels: sides must be positive, got " + std::to_string(view.height) +
                           "x" + std::to_string(view.width));
  }
  if (view.channels != 3 && view.channels != 4) {
    return InvalidArgument("pixels: expected 3 or 4 channels, got " +
                           std::to_string(view.channels));
  }
  const size_t row = static_cast<size_t>(view.width) * static_cast<size_t>(view.channels);
  size_t extent = 0;
  if (view.row_bytes < row ||
      !CheckedMul(view.row_bytes, static_cast<size_t>(view.height), &extent) ||
      extent > static_cast<size_t>(PTRDIFF_MAX)) {
    return InvalidArgument("pixels: row_bytes " + std::to_string(view.row_bytes) + " for " +
                           std::to_string(view.height) + " rows of " + std::to_string(row) +
                           " bytes");
  }
  return Ok{};
}

ImageInfo InfoOf(const ImageView& view) {
  ImageInfo info;
  info.height = view.height;
  info.width = view.width;
  info.has_alpha = view.channels == 4;
  info.mode = info.has_alpha ? "RGBA" : "RGB";
  return info;
}

/// Counts the time of reading as decoding. A request that may have to stop is asked every band.
class WatchedRows final : public RowSource {
 public:
  WatchedRows(RowSource* rows, const ProcessOptions* options, double* ms)
      : RowSource(rows->height(), rows->width(), rows->channels()),
        rows_(rows),
        options_(options),
        ms_(ms) {
    const int64_t row_bytes = int64_t{width()} * channels();
    band_ = MayStop(*options) ? std::max(1, static_cast<int>(kBandBytes / row_bytes)) : height();
  }

  const ImageView* whole() const noexcept override { return rows_->whole(); }
  Status Read(int rows, uint8_t* dst, size_t row_bytes) override {
    Stopwatch stopwatch;
    Status status = ReadBands(rows, dst, row_bytes);
    *ms_ += stopwatch.Lap();
    return status;
  }
  Status StillWanted() const override { return CheckStop(*options_, "process"); }

 private:
  static constexpr int64_t kBandBytes = int64_t{1} << 18;

  Status ReadBands(int rows, uint8_t* dst, size_t row_bytes) {
    while (rows > 0) {
      const int band = std::min(rows, band_);
      MMCPP_TRY(CheckStop(*options_, "decode"));
      MMCPP_TRY(rows_->Read(band, dst, row_bytes));
      dst += row_bytes * static_cast<size_t>(band);
      rows -= band;
    }
    return Ok{};
  }

  RowSource* rows_;
  const ProcessOptions* options_;
  double* ms_;
  int band_;
};

Status ReadToEnd(RowSource* rows, const ProcessOptions& options) {
  if (rows->whole() != nullptr) return Ok{};
  double ms = 0;
  WatchedRows watched(rows, &options, &ms);
  const size_t row_bytes = rows->dense_row_bytes();
  MMCPP_ASSIGN(Buffer row, Buffer::Allocate(row_bytes));
  for (int y = 0; y < rows->height(); ++y) MMCPP_TRY(watched.Read(1, row.data(), row_bytes));
  return Ok{};
}

Status ReadAndProcess(const Family& family, ItemPlan plan, TensorView feature,
                      const ProcessOptions& options, LoadedItem* loaded) {
  MMCPP_TRY(CheckStop(options, "process"));
  ItemTimes& times = loaded->item.times;
  const double before_ms = times.decode_ms;
  Stopwatch stopwatch;
  WatchedRows rows(loaded->rows.get(), &options, &times.decode_ms);
  MMCPP_TRY(family.ProcessRows(&rows, plan, feature));
  MMCPP_ASSIGN(loaded->item.aux, family.Aux(plan));
  loaded->item.plan = std::move(plan);
  times.process_ms = stopwatch.Lap() - (times.decode_ms - before_ms);
  return Ok{};
}

}  // namespace

Status CheckSource(const MediaSource& source) {
  if (const auto* view = std::get_if<ImageView>(&source)) return CheckPixels(*view);
  const Bytes& bytes = *std::get_if<Bytes>(&source);
  if (bytes.data() == nullptr && !bytes.empty()) {
    return InvalidArgument("source: " + std::to_string(bytes.size()) + " bytes at a null pointer");
  }
  return Ok{};
}

Status CheckCount(size_t items, const RequestLimits& limits) {
  if (items == 0) return InvalidArgument("multimodal request without image sources");
  if (items > limits.max_items) {
    return Error{ErrorCode::kLimitExceeded,
                 "multimodal request exceeds " + std::to_string(limits.max_items) + " media items"};
  }
  return Ok{};
}

Status CheckCall(size_t items, const ProcessOptions& options) {
  MMCPP_TRY(CheckCount(items, options.limits));
  switch (options.dtype) {
    case DType::kF32:
    case DType::kBf16:
    case DType::kF16:
    case DType::kU8:
      break;
    default:
      return InvalidArgument("dtype: expected float32, bfloat16, float16 or uint8, got " +
                             std::string(DTypeName(options.dtype)));
  }
  return Ok{};
}

Status CheckSources(Span<const MediaSource> media, const ProcessOptions& options) {
  MMCPP_TRY(CheckCall(media.size(), options));
  const RequestLimits& limits = options.limits;
  uint64_t total = 0;
  for (size_t i = 0; i < media.size(); ++i) {
    MMCPP_TRY(ForItem(i, [&] { return CheckSource(media[i]); }));
    if (!CheckedAdd(total, SourceBytes(media[i]), &total) || total > limits.max_total_bytes) {
      return Error{ErrorCode::kLimitExceeded, "multimodal request exceeds " +
                                                  std::to_string(limits.max_total_bytes) +
                                                  " total media bytes"};
    }
  }
  return Ok{};
}

uint64_t SourceBytes(const MediaSource& source) {
  if (const auto* view = std::get_if<ImageView>(&source)) {
    return static_cast<uint64_t>(view->height) * static_cast<uint64_t>(view->width) *
           static_cast<uint64_t>(view->channels);
  }
  return std::get_if<Bytes>(&source)->size();
}

SourceHash HashSource(const MediaSource& source) {
  Stopwatch stopwatch;
  SourceHash hash;
  if (const auto* view = std::get_if<ImageView>(&source)) {
    hash.hash = PixelHash(*view);
  } else {
    hash.hash = ContentHash(*std::get_if<Bytes>(&source));
  }
  hash.ms = stopwatch.Lap();
  return hash;
}

Result<LoadedItem> LoadItem(const Family& family, const MediaSource& source,
                            const ProcessOptions& options) {
  LoadedItem loaded;
  OutputItem& item = loaded.item;
  if (const auto* view = std::get_if<ImageView>(&source)) {
    if (view->channels != 3 && !family.KeepsAlpha()) {
      return InvalidArgument("pixels: expected 3 channels, got " + std::to_string(view->channels));
    }
    item.encoded = false;
    item.info = InfoOf(*view);
    loaded.rows = std::make_unique<WholeRows>(*view);
    return loaded;
  }
  MMCPP_TRY(CheckStop(options, "decode"));
  Stopwatch stopwatch;
  DecodeOptions decode = options.decode;
  if (family.KeepsAlpha()) {
    decode.alpha = AlphaMode::kKeep;
  } else if (decode.alpha == AlphaMode::kKeep) {
    return InvalidArgument("decode: alpha to be kept, for a family that has no use of it");
  }
  MMCPP_ASSIGN(codec::OpenedImage opened,
               codec::OpenImage(*std::get_if<Bytes>(&source), decode, StopOf(options)));
  item.info = std::move(opened.info);
  loaded.rows = std::move(opened.rows);
  item.times.decode_ms = stopwatch.Lap();
  return loaded;
}

Status RunFamily(const Family& family, const MediaSource& source, const SourceHash* known,
                 ItemPlan plan, TensorView feature, const ProcessOptions& options,
                 LoadedItem* loaded) {
  Status status = Ok{};
  SourceHash hash = known == nullptr ? SourceHash{} : *known;
  const auto job = [&](size_t i) {
    if (i == 1) {
      hash = HashSource(source);
      return;
    }
    status = CatchOutOfMemory(
        [&] { return ReadAndProcess(family, std::move(plan), feature, options, loaded); });
  };
  par::ForRange(known == nullptr ? 2 : 1, 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) job(i);
  });
  loaded->item.content_hash = hash.hash;
  loaded->item.times.hash_ms = hash.ms;
  return status;
}

Result<OutputItem> ProcessItem(const Family& family, const MediaSource& source,
                               const SourceHash* known, const ProcessOptions& options) {
  MMCPP_ASSIGN(LoadedItem loaded, LoadItem(family, source, options));
  auto plan = family.PlanItem(loaded.rows->height(), loaded.rows->width());
  if (!plan.ok()) {
    MMCPP_TRY(
        ReadToEnd(loaded.rows.get(), options));  // damage is told before a size that is refused
    return std::move(plan).error();
  }
  MMCPP_ASSIGN(loaded.item.feature, Tensor::Allocate(options.dtype, plan->feature_shape));
  const TensorView feature = loaded.item.feature.view();
  MMCPP_TRY(RunFamily(family, source, known, *std::move(plan), feature, options, &loaded));
  return std::move(loaded.item);
}

}  // namespace mmcpp::driver
