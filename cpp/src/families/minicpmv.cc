// MiniCPM-V 2.6 to 4.7: the picture as a whole, then slices of it, each rounded to whole patches;
// patches stand side by side in one strip of three planes. Equals MiniCPMV4_6ImageProcessor of
// transformers 5.24, and the code of MiniCPM-V 2.6 but for its list of strips, which are joined
// here.
#include "families/minicpmv.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
#include "families/resize_planes.h"
#include "prompt/canvas_rope.h"
#include "transforms/slices.h"

namespace mmcpp::families {
namespace {

using transforms::Size;
using transforms::SlicedSize;

constexpr int kMaxSide = 4096;
constexpr int kMaxPatchSize = 64;
constexpr int kMaxMergeSize = 16;
constexpr int kMaxSlices = 256;
constexpr uint64_t kMaxTokens = uint64_t{1} << 16;
constexpr size_t kDigits = 10;
constexpr size_t kStripAxis = 3;

constexpr const char* kTargetSizes = "target_sizes";
constexpr const char* kTgtSizes = "tgt_sizes";

struct Marks {
  std::vector<int64_t> image_start, image_end, slice_start, slice_end;
  std::vector<int64_t> row_end;   ///< between rows of slices
  std::vector<int64_t> image_id;  ///< before and behind the picture's number, then the ten digits

  /// The first five kinds.
  std::vector<int64_t> OfCanvas() const {
    std::vector<int64_t> all;
    for (const auto* kind : {&image_start, &image_end, &slice_start, &slice_end, &row_end}) {
      all.insert(all.end(), kind->begin(), kind->end());
    }
    return all;
  }
};

struct Config {
  ItemPrompt prompt;
  Marks marks;
  uint64_t tokens_per_slice = 0;  ///< 0: one for each merged patch
  int patch_size = 0;
  transforms::SliceRule rule;
  bool tgt_sizes = false;  ///< the aux tensor of MiniCPM-V 2.6 in place of 4.6's
  bool canvas = false;     ///< M-RoPE on a canvas, as MiniCPM-V 4.7 has it
  PixelRules pixels;
};

Marks ReadMarks(SpecReader* spec) {
  Marks marks;
  marks.image_start = spec->Ints("image_start_token_ids");
  marks.image_end = spec->Ints("image_end_token_ids");
  marks.slice_start = spec->Ints("slice_start_token_ids");
  marks.slice_end = spec->Ints("slice_end_token_ids");
  marks.row_end = spec->Ints("row_end_token_ids");
  marks.image_id = spec->Ints("image_id_token_ids");
  if (!marks.image_id.empty() && marks.image_id.size() != 2 + kDigits) {
    spec->Fail("image_id_token_ids: expected a token before, one behind and ten digits, or none");
  }
  return marks;
}

/// The places on a canvas are those of single marks and of a token for each merged patch, and all
/// are told apart by their ids.
void CheckCanvas(const Config& config, SpecReader* spec) {
  const Marks& marks = config.marks;
  bool single = true;
  for (const auto* kind : {&marks.image_start, &marks.image_end, &marks.slice_start,
                           &marks.slice_end, &marks.row_end}) {
    single = single && kind->size() == 1;
  }
  std::vector<int64_t> ids = marks.OfCanvas();
  ids.push_back(config.prompt.token);
  std::sort(ids.begin(), ids.end());
  if (!single || std::adjacent_find(ids.begin(), ids.end()) != ids.end()) {
    spec->Fail(
        "positions canvas: expected one token of each mark but image_id_token_ids, no two alike");
  }
  if (config.tokens_per_slice != 0) {
    spec->Fail("positions canvas: tokens_per_slice have no places");
  }
}

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.marks = ReadMarks(&spec);
  config.tokens_per_slice = spec.UIntOr("tokens_per_slice", 1, kMaxTokens, 0);
  config.patch_size = spec.Size("patch_size", kMaxPatchSize);
  config.rule.unit = config.patch_size * spec.Size("merge_size", kMaxMergeSize);
  config.rule.scale_resolution = spec.Size("scale_resolution", kMaxSide);
  config.rule.max_slices = spec.Size("max_slices", kMaxSlices);
  config.tgt_sizes =
      spec.EnumOr<bool>("sizes", {{"target_sizes", false}, {"tgt_sizes", true}}, false);
  config.canvas = spec.EnumOr<bool>("positions", {{"plain", false}, {"canvas", true}}, false);
  if (config.canvas) CheckCanvas(config, &spec);
  config.pixels = PixelRules::Read(&spec);
  MMCPP_TRY(spec.Finish());
  return config;
}

class MiniCpmV final : public Family {
 public:
  explicit MiniCpmV(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "minicpmv"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }
  size_t PackAxis() const noexcept override { return kStripAxis; }
  Span<const char* const> JoinedAux() const noexcept override {
    return {config_.tgt_sizes ? &kTgtSizes : &kTargetSizes, 1};
  }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    MMCPP_ASSIGN(const SlicedSize size, transforms::SlicePicture(height, width, config_.rule));
    const int64_t columns = StripWidth(size.source) + size.grid.count() * StripWidth(size.slice);
    ItemPlan plan;
    plan.feature_shape = {1, 3, config_.patch_size, columns};
    plan.geometry = ToGeometry(size.grid);
    plan.tokens = config_.prompt.TokensWith(Tokens(size));
    plan.source_height = height;
    plan.source_width = width;
    plan.resized_height = size.source.height;
    plan.resized_width = size.source.width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    MMCPP_ASSIGN(const SlicedSize size, SizeOf(plan));
    const int patch = config_.patch_size;
    MMCPP_TRY(ResizeToPlanes(image, size.source, config_.pixels,
                             {size.source.height, size.source.width, 1, 1, 0, patch}, feature));
    if (size.grid.count() == 0) return Ok{};
    const transforms::PlaneTiles slices = {
        size.slice.height,      size.slice.width, size.grid.rows, size.grid.columns, 0, patch,
        StripWidth(size.source)};
    return ResizeToPlanes(
        image, {static_cast<int>(slices.canvas_height()), static_cast<int>(slices.canvas_width())},
        config_.pixels, slices, feature);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    MMCPP_ASSIGN(const SlicedSize size, SizeOf(plan));
    std::vector<int32_t> sizes;
    for (int i = 0; i <= size.grid.count(); ++i) {
      const Size& part = i == 0 ? size.source : size.slice;
      sizes.push_back(part.height / config_.patch_size);
      sizes.push_back(part.width / config_.patch_size);
    }
    const std::array<int64_t, 1> count = {size.grid.count() + 1};
    const std::array<int64_t, 2> grid = {size.grid.rows, size.grid.columns};
    std::vector<NamedTensor> aux(config_.tgt_sizes ? 1 : 3);
    aux[0].name = JoinedAux()[0];
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Of<int32_t>(sizes, {count[0], 2}));
    if (config_.tgt_sizes) return aux;
    aux[1].name = "grids";
    MMCPP_ASSIGN(aux[1].tensor, Tensor::Of<int64_t>(grid, {2}));
    aux[2].name = "num_patches_per_image";
    MMCPP_ASSIGN(aux[2].tensor, Tensor::Of<int64_t>(count, {}));
    return aux;
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    for (const ItemPlan& item : items) MMCPP_TRY(SizeOf(item));
    const auto write = [this, number = 0](const ItemPlan& item, ItemTokens* to) mutable {
      WriteSlices(*SizeOf(item), number++, to);
    };
    return config_.prompt.Layout(input_ids, items, write);
  }

  Result<Positions> ComputePositions(Span<const int64_t> input_ids, Span<const TokenRange> offsets,
                                     Span<const ItemPlan> items) const override {
    if (!config_.canvas) return Positions{Rope1D{}};
    if (offsets.size() != items.size()) {
      return InvalidArgument("minicpmv: " + std::to_string(offsets.size()) + " range(s) but " +
                             std::to_string(items.size()) + " item(s)");
    }
    std::vector<prompt::CanvasPicture> pictures;
    pictures.reserve(items.size());
    for (size_t i = 0; i < items.size(); ++i) {
      MMCPP_ASSIGN(const SlicedSize size, SizeOf(items[i]));
      TokenRange range = offsets[i];
      range.first += static_cast<uint32_t>(NumberTokens(i));
      pictures.push_back(
          {range,
           ToTokens(size.source),
           ToTokens(size.slice),
           {static_cast<uint32_t>(size.grid.rows), static_cast<uint32_t>(size.grid.columns)}});
    }
    MMCPP_ASSIGN(MRope rope,
                 prompt::CanvasPositions(input_ids, pictures, config_.marks.OfCanvas()));
    return Positions{std::move(rope)};
  }

 private:
  static TileGrid ToGeometry(const transforms::Grid& grid) {
    if (grid.count() == 0) return {};
    return {static_cast<uint32_t>(grid.rows), static_cast<uint32_t>(grid.columns), true};
  }

  Result<SlicedSize> SizeOf(const ItemPlan& plan) const {
    return transforms::SlicePicture(plan.source_height, plan.source_width, config_.rule);
  }

  int64_t StripWidth(const Size& size) const {
    return int64_t{size.height} / config_.patch_size * size.width;
  }

  prompt::CanvasGrid ToTokens(const Size& size) const {
    return {static_cast<uint32_t>(size.height / config_.rule.unit),
            static_cast<uint32_t>(size.width / config_.rule.unit)};
  }

  uint64_t TokensOf(const Size& size) const {
    if (config_.tokens_per_slice != 0) return config_.tokens_per_slice;
    const prompt::CanvasGrid grid = ToTokens(size);
    return uint64_t{grid.h} * grid.w;
  }

  /// Tokens of a picture's number and around it.
  size_t NumberTokens(size_t number) const {
    return config_.marks.image_id.empty() ? 0 : 2 + std::to_string(number).size();
  }

  uint64_t Tokens(const SlicedSize& size) const {
    const Marks& marks = config_.marks;
    const auto slices = static_cast<uint64_t>(size.grid.count());
    const size_t row_ends = slices == 0 ? 0 : static_cast<size_t>(size.grid.rows) - 1;
    return (marks.image_id.empty() ? 0 : 3) + marks.image_start.size() + TokensOf(size.source) +
           marks.image_end.size() + row_ends * marks.row_end.size() +
           slices * (marks.slice_start.size() + TokensOf(size.slice) + marks.slice_end.size());
  }

  void WriteSlices(const SlicedSize& size, int number, ItemTokens* to) const {
    const Marks& marks = config_.marks;
    if (!marks.image_id.empty()) {
      to->Add(marks.image_id[0]);
      for (const char digit : std::to_string(number)) {
        to->Add(marks.image_id[2 + static_cast<size_t>(digit - '0')]);
      }
      to->Add(marks.image_id[1]);
    }
    to->Add(marks.image_start);
    to->AddRun(TokensOf(size.source));
    to->Add(marks.image_end);
    for (int i = 0; i < size.grid.count(); ++i) {
      if (i > 0 && i % size.grid.columns == 0) to->Add(marks.row_end);
      to->Add(marks.slice_start);
      to->AddRun(TokensOf(size.slice));
      to->Add(marks.slice_end);
    }
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeMiniCpmV(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<MiniCpmV>(std::move(config)));
}

}  // namespace mmcpp::families
