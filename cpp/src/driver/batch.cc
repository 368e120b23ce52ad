// Items without a prompt, their features packed into one tensor without a copy: sizes come from the
// headers, the tensor is allocated once, and each item is decoded and processed into its own rows.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "driver/item.h"
#include "mmcpp/driver.h"
#include "par/par.h"

namespace mmcpp {
namespace {

/// An item as its header promises it.
struct PlannedItem {
  int height = 0, width = 0;
  ItemPlan plan;
};

bool WithinLimits(Bytes bytes, const ImageInfo& info, const DecodeLimits& limits) {
  const uint64_t pixels = static_cast<uint64_t>(info.height) * static_cast<uint64_t>(info.width);
  return bytes.size() <= limits.max_encoded_bytes && info.height <= limits.max_side &&
         info.width <= limits.max_side && pixels <= limits.max_pixels;
}

Result<PlannedItem> PlanSource(const Family& family, const MediaSource& source,
                               const DecodeOptions& options) {
  PlannedItem planned;
  if (const auto* view = std::get_if<ImageView>(&source)) {
    planned.height = view->height;
    planned.width = view->width;
  } else {
    const Bytes& bytes = *std::get_if<Bytes>(&source);
    MMCPP_ASSIGN(const ImageInfo info, ReadImageInfo(bytes));
    // The decode will refuse it, with its own words: see LowestFailure.
    if (!WithinLimits(bytes, info, options.limits)) {
      return Error{ErrorCode::kLimitExceeded, "header: over the limits"};
    }
    planned.height = info.height;
    planned.width = info.width;
    // EXIF orientations from 5 on exchange rows and columns.
    if (options.apply_orientation && info.orientation >= 5) {
      std::swap(planned.height, planned.width);
    }
  }
  MMCPP_ASSIGN(planned.plan, family.PlanItem(planned.height, planned.width));
  return planned;
}

/// Where each item's feature goes in the packed tensor: in each of `outer` parts of `outer_bytes`
/// at its offset, so many rows as it has along `axis`.
struct Packing {
  std::vector<int64_t> shape;
  size_t axis = 0;
  std::vector<size_t> byte_offsets;
  size_t row_bytes = 0;
  size_t outer = 1, outer_bytes = 0;
};

/// Takes in an item's shape; false if it cannot be packed with those before.
bool JoinOtherSides(const std::vector<int64_t>& shape, bool pads, size_t axis,
                    std::vector<int64_t>* joined) {
  if (shape.size() != joined->size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i == axis) continue;
    if (shape[i] != (*joined)[i] && !pads) return false;
    (*joined)[i] = std::max(shape[i], (*joined)[i]);
  }
  return true;
}

Result<Packing> Pack(const Family& family, const std::vector<PlannedItem>& items, DType dtype) {
  Packing packing;
  packing.shape = items[0].plan.feature_shape;
  packing.axis = family.PackAxis();
  MMCPP_ENSURE(packing.axis < packing.shape.size());
  for (size_t i = 0; i < items.size(); ++i) {
    MMCPP_TRY(driver::ForItem(i, [&]() -> Status {
      const bool joined = JoinOtherSides(items[i].plan.feature_shape, family.PadsFeatures(),
                                         packing.axis, &packing.shape);
      if (joined) return Ok{};
      return InvalidArgument("features of different shapes cannot be packed");
    }));
  }
  packing.row_bytes = DTypeSize(dtype);
  for (size_t i = 0; i < packing.shape.size(); ++i) {
    if (i == packing.axis) continue;
    size_t* const product = i < packing.axis ? &packing.outer : &packing.row_bytes;
    MMCPP_ENSURE(packing.shape[i] >= 0);
    MMCPP_ENSURE(CheckedMul(*product, static_cast<size_t>(packing.shape[i]), product));
  }
  int64_t* const sum = &packing.shape[packing.axis];
  *sum = 0;
  for (const PlannedItem& item : items) {
    const int64_t rows = item.plan.feature_shape[packing.axis];
    size_t offset = 0;
    MMCPP_ENSURE(rows >= 0);
    MMCPP_ENSURE(CheckedMul(static_cast<size_t>(*sum), packing.row_bytes, &offset));
    MMCPP_ENSURE(CheckedAdd(*sum, rows, sum));
    packing.byte_offsets.push_back(offset);
  }
  MMCPP_ENSURE(CheckedMul(static_cast<size_t>(*sum), packing.row_bytes, &packing.outer_bytes));
  return packing;
}

/// The part of the packed tensor that is an item's; zero beforehand where it is to be padded.
TensorView ItemPart(const Packing& packing, size_t index, const ItemPlan& plan, DType dtype,
                    uint8_t* data, std::vector<int64_t>* shape) {
  *shape = packing.shape;
  (*shape)[packing.axis] = plan.feature_shape[packing.axis];
  const TensorView part = {data + packing.byte_offsets[index], dtype, *shape};
  if (*shape != plan.feature_shape) {
    std::memset(part.data, 0,
                packing.outer * static_cast<size_t>((*shape)[packing.axis]) * packing.row_bytes);
  }
  return part;
}

/// Puts a feature that is not dense in the packed tensor into its place.
void CopyIntoPlace(const Tensor& feature, const Packing& packing, size_t index, uint8_t* data) {
  const size_t bytes = static_cast<size_t>(feature.shape()[packing.axis]) * packing.row_bytes;
  for (size_t i = 0; i < packing.outer; ++i) {
    std::memcpy(data + i * packing.outer_bytes + packing.byte_offsets[index],
                feature.data() + i * bytes, bytes);
  }
}

/// The request's error when item `error.item` cannot be planned: what the lowest failing item says
/// when all its stages run, which may be an earlier one that only its pixels give away.
Error LowestFailure(const Family& family, Span<const MediaSource> media,
                    const ProcessOptions& options, Error error) {
  if (error.item < 0) return error;
  const auto full = par::TryMap<Ok>(static_cast<size_t>(error.item) + 1, [&](size_t i) {
    return driver::ForItem(i, [&]() -> Status {
      MMCPP_TRY(driver::ProcessItem(family, media[i], nullptr, options));
      return Ok{};
    });
  });
  return full.ok() ? error : full.error();
}

Result<OutputItem> ProcessInto(const Family& family, const MediaSource& source,
                               const ProcessOptions& options, const PlannedItem& planned,
                               const Packing& packing, size_t index, uint8_t* data) {
  MMCPP_ASSIGN(driver::LoadedItem loaded, driver::LoadItem(family, source, options));
  MMCPP_ENSURE(loaded.rows->height() == planned.height && loaded.rows->width() == planned.width);
  if (packing.outer > 1 && planned.plan.feature_shape != packing.shape) {
    MMCPP_ASSIGN(Tensor own, Tensor::Allocate(options.dtype, planned.plan.feature_shape));
    MMCPP_TRY(
        driver::RunFamily(family, source, nullptr, planned.plan, own.view(), options, &loaded));
    CopyIntoPlace(own, packing, index, data);
    return std::move(loaded.item);
  }
  std::vector<int64_t> shape;
  const TensorView feature = ItemPart(packing, index, planned.plan, options.dtype, data, &shape);
  MMCPP_TRY(driver::RunFamily(family, source, nullptr, planned.plan, feature, options, &loaded));
  return std::move(loaded.item);
}

struct PlannedBatch {
  std::vector<PlannedItem> items;
  Packing packing;
};

Result<PlannedBatch> Plan(const Family& family, Span<const MediaSource> media,
                          const ProcessOptions& options) {
  MMCPP_TRY(driver::CheckSources(media, options));
  auto planned = par::TryMap<PlannedItem>(media.size(), [&](size_t i) {
    return driver::ForItem(i, [&]() -> Result<PlannedItem> {
      MMCPP_TRY(driver::CheckStop(options, "header"));
      return PlanSource(family, media[i], options.decode);
    });
  });
  if (!planned.ok()) return LowestFailure(family, media, options, planned.error());
  auto packing = Pack(family, *planned, options.dtype);
  if (!packing.ok()) return LowestFailure(family, media, options, packing.error());
  return PlannedBatch{*std::move(planned), *std::move(packing)};
}

Result<std::vector<OutputItem>> Fill(const Family& family, Span<const MediaSource> media,
                                     const ProcessOptions& options, const PlannedBatch& batch,
                                     uint8_t* data) {
  return par::TryMap<OutputItem>(media.size(), [&](size_t i) {
    return driver::ForItem(i, [&] {
      return ProcessInto(family, media[i], options, batch.items[i], batch.packing, i, data);
    });
  });
}

std::string ToText(Span<const int64_t> shape) {
  std::string text = "[";
  for (const int64_t side : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(side);
  return text + "]";
}

Status CheckOutput(const TensorView& out, const std::vector<int64_t>& shape) {
  if (!std::equal(shape.begin(), shape.end(), out.shape.begin(), out.shape.end())) {
    return InvalidArgument("output: of shape " + ToText(out.shape) + " for features of shape " +
                           ToText(shape));
  }
  if (out.data == nullptr || reinterpret_cast<uintptr_t>(out.data) % DTypeSize(out.dtype) != 0) {
    return InvalidArgument("output: memory that is null or not aligned to " +
                           std::to_string(DTypeSize(out.dtype)) + " bytes");
  }
  return Ok{};
}

}  // namespace

Result<ItemBatch> ProcessItems(const Family& family, Span<const MediaSource> media,
                               const ProcessOptions& options) {
  const par::Call call;
  return CatchOutOfMemory([&]() -> Result<ItemBatch> {
    MMCPP_ASSIGN(const PlannedBatch planned, Plan(family, media, options));
    ItemBatch batch;
    MMCPP_ASSIGN(batch.features, Tensor::Allocate(options.dtype, planned.packing.shape));
    MMCPP_ASSIGN(batch.items, Fill(family, media, options, planned, batch.features.data()));
    return batch;
  });
}

Result<std::vector<OutputItem>> ProcessItemsInto(const Family& family,
                                                 Span<const MediaSource> media,
                                                 const ProcessOptions& options,
                                                 const TensorView& features) {
  const par::Call call;
  return CatchOutOfMemory([&]() -> Result<std::vector<OutputItem>> {
    ProcessOptions typed = options;
    typed.dtype = features.dtype;
    MMCPP_ASSIGN(const PlannedBatch planned, Plan(family, media, typed));
    MMCPP_TRY(CheckOutput(features, planned.packing.shape));
    return Fill(family, media, typed, planned, static_cast<uint8_t*>(features.data));
  });
}

}  // namespace mmcpp
