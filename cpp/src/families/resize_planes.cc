// Joins the window of a resize, or all of it, to the writer of planes.
#include "families/resize_planes.h"

#include <algorithm>

#include "base/ensure.h"
#include "resample/tiles.h"
#include "resample/window.h"

namespace mmcpp::families {
namespace {

constexpr int kTileSide = 16;

/// Begin and end of what is both in [0, canvas) and in [start, start + size).
struct Overlap {
  int begin = 0, end = 0;
};

Overlap OverlapOf(int start, int size, int64_t canvas) {
  const int64_t end = std::min<int64_t>(int64_t{start} + size, canvas);
  return {std::max(start, 0), static_cast<int>(std::max<int64_t>(end, std::max(start, 0)))};
}

}  // namespace

PixelRules PixelRules::Read(SpecReader* spec, Filter filter, transforms::NormRule aten_rule,
                            const std::string& prefix) {
  enum class Resample { kAtenU8, kPil };
  PixelRules rules;
  const auto resample = spec->EnumOr<Resample>(
      "resample", {{"aten_u8", Resample::kAtenU8}, {"pil", Resample::kPil}}, Resample::kAtenU8);
  const uint64_t pillow = spec->UIntOr("pillow_generation", 12, 13, 13);
  const bool aten = resample == Resample::kAtenU8;
  rules.convention = aten           ? Convention::kAtenU8
                     : pillow == 12 ? Convention::kPillow12
                                    : Convention::kPillow13;
  rules.filter = spec->EnumOr<Filter>((prefix + "filter").c_str(),
                                      {{"bicubic", Filter::kBicubic},
                                       {"bilinear", Filter::kBilinear},
                                       {"lanczos", Filter::kLanczos}},
                                      filter);
  if (!spec->BoolOr("do_normalize", true)) {
    rules.table = transforms::MakeNormTable(
        aten ? transforms::NormRule::kReciprocal : transforms::NormRule::kPil, {0, 0, 0},
        {1, 1, 1});
    return rules;
  }
  const std::array<float, 3> mean = spec->Channels((prefix + "image_mean").c_str());
  const std::array<float, 3> std = spec->Channels((prefix + "image_std").c_str());
  for (float channel : std) {
    if (channel == 0) spec->Fail(prefix + "image_std: expected numbers other than 0");
  }
  rules.table = transforms::MakeNormTable(aten ? aten_rule : transforms::NormRule::kPil, mean, std);
  return rules;
}

Status ResizeToPlanes(const ImageView& image, transforms::Size size, const PixelRules& rules,
                      const transforms::PlaneTiles& tiles, TensorView out, int top, int left,
                      const std::array<uint8_t, 3>& color) {
  MMCPP_ASSIGN(const auto writer, transforms::PlaneWriter::Make(tiles, rules.table, out));
  const Overlap rows = OverlapOf(top, size.height, tiles.canvas_height());
  const Overlap columns = OverlapOf(left, size.width, tiles.canvas_width());
  const transforms::Box box = {rows.begin, columns.begin, rows.end - rows.begin,
                               columns.end - columns.begin};
  if (box.height < tiles.canvas_height() || box.width < tiles.canvas_width()) {
    writer.FillAround(box, color);
  }
  const resample::Window window = {box.y - top, box.x - left, box.height, box.width};
  return resample::ResizeWindow(image, size.height, size.width, rules.filter, rules.convention,
                                window, [&](const resample::Tile& tile) {
                                  writer.Write(
                                      {box.y + tile.y, box.x + tile.x, tile.height, tile.width},
                                      tile.rows, tile.row_bytes);
                                });
}

Status ResizeToPlanes(RowSource* rows, const PixelRules& rules, const transforms::PlaneTiles& tiles,
                      TensorView out) {
  MMCPP_ASSIGN(const auto writer, transforms::PlaneWriter::Make(tiles, rules.table, out));
  return resample::ResizeTiles(
      rows, {static_cast<int>(tiles.canvas_height()), static_cast<int>(tiles.canvas_width())},
      rules.filter, rules.convention, kTileSide, [&](const resample::Tile& tile) {
        writer.Write({tile.y, tile.x, tile.height, tile.width}, tile.rows, tile.row_bytes);
      });
}

}  // namespace mmcpp::families
