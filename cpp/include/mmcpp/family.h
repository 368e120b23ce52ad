// The contract between a model family and the driver: a family describes data, the driver owns
// control flow. A family never sees the request, the threads, the codecs or the failure rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "mmcpp/export.h"
#include "mmcpp/image.h"
#include "mmcpp/span.h"
#include "mmcpp/status.h"
#include "mmcpp/tensor.h"

namespace mmcpp {

/// A picture as a grid of patches, in patches before any merge.
struct GridThw {
  uint32_t t = 0, h = 0, w = 0;
};

/// A picture as tiles of equal size, row by row; behind them, if there are several, may stand the
/// picture as a whole.
struct TileGrid {
  uint32_t rows = 1, columns = 1;
  bool thumbnail = false;

  int64_t count() const { return int64_t{rows} * columns + (thumbnail ? 1 : 0); }
};

/// What positions and layout need to know of an item; the driver hands it through without a look.
using Geometry = std::variant<GridThw, TileGrid>;

/// One of the tensors that a picture becomes.
struct FeaturePart {
  std::string name;  ///< in the model's inputs
  std::vector<int64_t> shape;
};

/// Everything about an item that its size decides, known without pixels.
struct ItemPlan {
  std::vector<int64_t> feature_shape;
  Geometry geometry;
  uint64_t tokens = 0;    ///< prompt tokens that take a placeholder's place, any around it counted
  int source_height = 0;  ///< the picture itself, in pixels, where a family's Aux needs it
  int source_width = 0;
  int resized_height = 0;  ///< the picture the model sees, in pixels
  int resized_width = 0;
  /// Where a picture becomes several tensors of different sides, those: the feature is flat then,
  /// [all their elements], and holds one behind another. Else none.
  std::vector<FeaturePart> feature_parts;
};

/// Source tokens [begin, end) copied as they are.
struct TextRange {
  size_t begin = 0, end = 0;
};
/// `count` times the token `id`.
struct RepeatPattern {
  int64_t id = 0;
  uint64_t count = 0;
};
/// These ids; only [content_begin, content_end) counts as the item, the rest are its wrapper.
struct ExplicitPattern {
  std::vector<int64_t> ids;
  size_t content_begin = 0, content_end = 0;
};
using TokenPattern = std::variant<RepeatPattern, ExplicitPattern>;
/// `source_tokens` source tokens (none: an insertion) replaced by what stands for `item`.
struct MediaSegment {
  size_t item = 0;
  TokenPattern pattern;
  size_t source_tokens = 1;
};
using Segment = std::variant<TextRange, MediaSegment>;
/// How a prompt is expanded: segments in order, which together consume every source token once.
struct TokenLayout {
  std::vector<Segment> segments;
};

/// Where an item's tokens are in the expanded prompt; both ends are inside.
struct TokenRange {
  uint32_t first = 0, last = 0;
};

/// Position ids beyond plain 0..n-1. Rope1D: nothing. MRope: int64 [axes, length], of 3 axes unless
/// the family says otherwise, and the delta, the largest position + 1 - length.
struct Rope1D {};
struct MRope {
  Tensor position_ids;
  int64_t delta = 0;
};
using Positions = std::variant<Rope1D, MRope>;

/// One model family, configured for one checkpoint. Immutable; every method may be called from any
/// thread.
class MMCPP_EXPORT Family {
 public:
  virtual ~Family() = default;

  /// The spec's family name, such as "qwen_vl".
  virtual const char* name() const noexcept = 0;
  /// The feature's name in the model's inputs, such as "pixel_values".
  virtual const char* feature_name() const noexcept = 0;

  /// What a picture of this size becomes. kInvalidArgument for a size the family refuses.
  virtual Result<ItemPlan> PlanItem(int height, int width) const = 0;

  /// The side along which the features of a batch are joined, 0 unless a family says otherwise. Any
  /// behind sides that are not 1 costs a copy.
  virtual size_t PackAxis() const noexcept;

  /// Whether features of one batch may differ in other sides than that. The packed tensor has the
  /// largest of each then, zero where a picture has nothing, and the tensor that ProcessItem gets
  /// may be larger than plan.feature_shape: the feature stands at its head.
  virtual bool PadsFeatures() const noexcept;

  /// Whether transparency is the family's to deal with: pictures that have some come to ProcessItem
  /// with four channels then, RGBA8, and all others with three, whatever DecodeOptions::alpha is.
  /// Unless a family says otherwise, false, and all pictures have three.
  virtual bool KeepsAlpha() const noexcept;

  /// The names of those tensors of Aux that have a row for each part of an item, such as its
  /// slices, so that those of a batch are joined along their first side; all others are stacked. By
  /// default none. The family holds them.
  virtual Span<const char* const> JoinedAux() const noexcept;

  /// The names of those tensors of Aux that are filled up with ones where those of a batch differ
  /// in size; all others with zeros. By default none. The family holds them.
  virtual Span<const char* const> OnesAux() const noexcept;

  /// Writes the feature of `image` into `feature`, whose shape is plan.feature_shape and whose
  /// dtype is one of f32, bf16, f16 and u8 (u8: pixels as resized, normalisation left to the
  /// device). `plan` is PlanItem(image.height, image.width).
  virtual Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                             TensorView feature) const = 0;

  /// The same of a picture whose rows come one after another; none was read yet, and all must be,
  /// for an error may stand at the end. By default they are gathered into a picture for
  /// ProcessItem.
  virtual Status ProcessRows(RowSource* rows, const ItemPlan& plan, TensorView feature) const;

  /// Small tensors beside the feature, such as image_grid_thw int64 [3].
  virtual Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const = 0;

  /// How the prompt expands around the items. kInvalidArgument when ids and items do not match.
  virtual Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                                     Span<const ItemPlan> items) const = 0;

  /// Position ids of the expanded prompt `input_ids`; plain by default.
  virtual Result<Positions> ComputePositions(Span<const int64_t> input_ids,
                                             Span<const TokenRange> offsets,
                                             Span<const ItemPlan> items) const;
};

}  // namespace mmcpp
