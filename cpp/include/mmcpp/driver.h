// A whole request: pictures and prompt in; tensors, expanded prompt, offsets and positions out; or
// one error.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "mmcpp/export.h"
#include "mmcpp/family.h"
#include "mmcpp/image.h"
#include "mmcpp/span.h"
#include "mmcpp/status.h"
#include "mmcpp/tensor.h"

namespace mmcpp {

/// A picture of a request: encoded bytes, or pixels that the caller decoded. Borrowed.
using MediaSource = std::variant<Bytes, ImageView>;

/// What a request may cost.
struct RequestLimits {
  size_t max_items = 64;
  size_t max_total_bytes = size_t{256} << 20;  ///< encoded bytes and given pixels together
  uint64_t max_tokens = uint64_t{1} << 20;     ///< of the expanded prompt
};

struct ProcessOptions {
  DType dtype = DType::kF32;  ///< of features: kF32, kBf16, kF16 or kU8
  DecodeOptions decode;       ///< its limits are per item; its alpha is for families that keep none
  RequestLimits limits;

  /// When to give up, with kDeadlineExceeded, and a flag that another thread may set to end the
  /// request with kCancelled; borrowed. Both are looked at between stages, between bands of rows
  /// that are decoded, and within the decode of a picture that has no row before its end
  /// (progressive JPEG, PNG, GIF); only a WebP is one call of libwebp, some seconds at the largest
  /// size. Such an error names no item.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  const std::atomic<bool>* cancelled = nullptr;
};

/// Where an item's time went, in milliseconds.
struct ItemTimes {
  double hash_ms = 0, decode_ms = 0, process_ms = 0;
};

struct OutputItem {
  Tensor feature;  ///< empty in an ItemBatch, whose features are packed
  std::vector<NamedTensor> aux;
  ItemPlan plan;
  uint64_t content_hash = 0;  ///< ContentHash of the encoded bytes; PixelHash of given pixels
  ImageInfo info;             ///< of given pixels: mode "RGB" or "RGBA" and the size
  bool encoded = true;        ///< false when pixels were given, and info.format says nothing
  ItemTimes times;
};

/// From a prompt's text to its ids, the placeholders of the media among them. Called once for a
/// request, on the thread that runs it, once the sources are known to be within their limits; its
/// error becomes the request's, headed with "tokenizer: ".
using Tokenizer = std::function<Result<std::vector<int64_t>>(std::string_view text)>;

/// A prompt is either ids, or a text and the tokenizer that knows it.
struct Request {
  Span<const int64_t> input_ids;
  Span<const MediaSource> media;
  ProcessOptions options;
  std::string_view text = {};  ///< UTF-8; at most limits.max_total_bytes
  Tokenizer tokenizer = {};
};

/// What a request came to, as a server's metrics count it.
struct RequestCounters {
  uint64_t items = 0;
  uint64_t duplicates = 0;  ///< of these, equal to an earlier item and not processed again
  uint64_t bytes_in = 0;    ///< encoded bytes and given pixels, of all items
  uint64_t pixels = 0;      ///< height times width, of all items but duplicates
  uint64_t bytes_out = 0;   ///< of features and the tensors beside them
  uint64_t tokens_in = 0, tokens_out = 0;  ///< before and after the expansion
};

struct Response {
  std::vector<int64_t> input_ids;   ///< expanded
  std::vector<OutputItem> items;    ///< in the order of the request
  std::vector<TokenRange> offsets;  ///< offsets[i] is where item i stands
  Positions positions;
  double tokenize_ms = 0, layout_ms = 0, positions_ms = 0;
  RequestCounters counters;
};

/// Runs a request. All or nothing: with several failing items the error of the lowest one is given,
/// its index in Error::item and at the head of the message ("image 2: jpeg: ..."). Thread-safe.
MMCPP_EXPORT Result<Response> Process(const Family& family, const Request& request);

/// A picture's size in pixels: of the pixels that would be processed, after any EXIF orientation.
struct PictureSize {
  int height = 0, width = 0;
};

/// A request without its pixels, as routers and schedulers need it: plans of the items (feature
/// shapes, tokens), the expanded prompt and positions, equal to those of Process.
struct PlannedRequest {
  std::vector<int64_t> input_ids;   ///< expanded
  std::vector<ItemPlan> items;      ///< in the order of the request
  std::vector<TokenRange> offsets;  ///< offsets[i] is where item i stands
  Positions positions;
};

/// Plans a request whose pictures have these sizes, by arithmetic alone. Of `limits`, max_items and
/// max_tokens count. Errors as Process, without those that pictures give. Thread-safe.
MMCPP_EXPORT Result<PlannedRequest> PlanRequest(const Family& family, Span<const int64_t> input_ids,
                                                Span<const PictureSize> sizes,
                                                const RequestLimits& limits = {});

/// The image half alone: items without a prompt, features packed into one tensor, along
/// Family::PackAxis.
struct ItemBatch {
  Tensor features;
  std::vector<OutputItem> items;
};
MMCPP_EXPORT Result<ItemBatch> ProcessItems(const Family& family, Span<const MediaSource> media,
                                            const ProcessOptions& options);

/// Items that do not stand or fall together: what each becomes, in the order of `media`, each with
/// a feature of its own. An item's error is the one that it has in a request. An error of the call
/// is one that no single item is to blame for: the options, the number of items or their bytes
/// together. With a deadline, items that were done in time are there.
MMCPP_EXPORT Result<std::vector<Result<OutputItem>>> ProcessEach(const Family& family,
                                                                 Span<const MediaSource> media,
                                                                 const ProcessOptions& options);

/// ProcessItems with the features written into the caller's memory, pinned or shared, say:
/// `features` has the shape of ItemBatch::features (all of Family::PlanItem's feature shapes along
/// its PackAxis), and its dtype counts, not that of the options. After an error its contents are
/// unspecified. kInvalidArgument for another shape, or memory that is null or not aligned to its
/// element.
MMCPP_EXPORT Result<std::vector<OutputItem>> ProcessItemsInto(const Family& family,
                                                              Span<const MediaSource> media,
                                                              const ProcessOptions& options,
                                                              const TensorView& features);

}  // namespace mmcpp
