// One item: hash, decode, plan, process.
#include "driver/item.h"

#include <cstdint>

#include "base/checked.h"
#include "base/stopwatch.h"
#include "mmcpp/hash.h"

namespace mmcpp::driver {
namespace {

Status CheckPixels(const ImageView& view) {
  if (view.data == nullptr) return InvalidArgument("pixels: null data");
  if (view.height <= 0 || view.width <= 0) {
    return InvalidArgument("pixels: sides must be positive, got " + std::to_string(view.height) +
                           "x" + std::to_string(view.width));
  }
  const size_t row = static_cast<size_t>(view.width) * 3;
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

Status CheckSource(const MediaSource& source) {
  if (const auto* view = std::get_if<ImageView>(&source)) return CheckPixels(*view);
  const Bytes& bytes = *std::get_if<Bytes>(&source);
  if (bytes.data() == nullptr && !bytes.empty()) {
    return InvalidArgument("source: " + std::to_string(bytes.size()) + " bytes at a null pointer");
  }
  return Ok{};
}

/// What a checked source counts against the request's limit.
uint64_t SourceBytes(const MediaSource& source) {
  if (const auto* view = std::get_if<ImageView>(&source)) {
    return static_cast<uint64_t>(view->height) * static_cast<uint64_t>(view->width) * 3;
  }
  return std::get_if<Bytes>(&source)->size();
}

ImageInfo InfoOf(const ImageView& view) {
  ImageInfo info;
  info.height = view.height;
  info.width = view.width;
  info.mode = "RGB";
  return info;
}

}  // namespace

Status CheckSources(Span<const MediaSource> media, const ProcessOptions& options) {
  if (media.empty()) return InvalidArgument("multimodal request without image sources");
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
  const RequestLimits& limits = options.limits;
  if (media.size() > limits.max_items) {
    return Error{ErrorCode::kLimitExceeded,
                 "multimodal request exceeds " + std::to_string(limits.max_items) + " media items"};
  }
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

Result<LoadedItem> LoadItem(const MediaSource& source, const ProcessOptions& options) {
  LoadedItem loaded;
  OutputItem& item = loaded.item;
  Stopwatch stopwatch;
  if (const auto* view = std::get_if<ImageView>(&source)) {
    item.encoded = false;
    item.info = InfoOf(*view);
    item.content_hash = PixelHash(*view);
    item.times.hash_ms = stopwatch.Lap();
    loaded.pixels = *view;
    return loaded;
  }
  const Bytes& bytes = *std::get_if<Bytes>(&source);
  item.content_hash = ContentHash(bytes);
  item.times.hash_ms = stopwatch.Lap();
  MMCPP_ASSIGN(loaded.decoded, DecodeImage(bytes, options.decode));
  MMCPP_ASSIGN(item.info, ReadImageInfo(bytes));
  item.times.decode_ms = stopwatch.Lap();
  loaded.pixels = loaded.decoded;
  return loaded;
}

Status RunFamily(const Family& family, const ImageView& pixels, ItemPlan plan, TensorView feature,
                 OutputItem* item) {
  Stopwatch stopwatch;
  MMCPP_TRY(family.ProcessItem(pixels, plan, feature));
  MMCPP_ASSIGN(item->aux, family.Aux(plan));
  item->plan = std::move(plan);
  item->times.process_ms = stopwatch.Lap();
  return Ok{};
}

Result<OutputItem> ProcessItem(const Family& family, const MediaSource& source,
                               const ProcessOptions& options) {
  MMCPP_ASSIGN(LoadedItem loaded, LoadItem(source, options));
  MMCPP_ASSIGN(ItemPlan plan, family.PlanItem(loaded.pixels.height, loaded.pixels.width));
  MMCPP_ASSIGN(loaded.item.feature, Tensor::Allocate(options.dtype, plan.feature_shape));
  MMCPP_TRY(
      RunFamily(family, loaded.pixels, std::move(plan), loaded.item.feature.view(), &loaded.item));
  return std::move(loaded.item);
}

}  // namespace mmcpp::driver
