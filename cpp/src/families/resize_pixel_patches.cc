// Joins the tiles of a resize to the writer of patches with channels last.
#include "families/resize_pixel_patches.h"

#include "base/ensure.h"
#include "resample/tiles.h"

namespace mmcpp::families {
namespace {

template <class Input>
Status Run(const Input& input, transforms::Size size, const PixelRules& rules,
           const transforms::PixelPatches& layout, TensorView out) {
  MMCPP_ENSURE(size.height == int64_t{layout.patch_size} * layout.height * layout.rows &&
               size.width == int64_t{layout.patch_size} * layout.width * layout.columns);
  MMCPP_ASSIGN(const auto writer, transforms::PixelPatchWriter::Make(layout, rules.table, out));
  writer.ClearRest();
  return resample::ResizeTiles(input, {size.height, size.width}, rules.filter, rules.convention,
                               layout.patch_size, [&writer](const resample::Tile& tile) {
                                 writer.Write(tile.y, tile.x, tile.width, tile.rows,
                                              tile.row_bytes);
                               });
}

}  // namespace

Status ResizeToPixelPatches(const ImageView& image, transforms::Size size, const PixelRules& rules,
                            const transforms::PixelPatches& layout, TensorView out) {
  return Run(image, size, rules, layout, out);
}

Status ResizeToPixelPatches(RowSource* rows, transforms::Size size, const PixelRules& rules,
                            const transforms::PixelPatches& layout, TensorView out) {
  return Run(rows, size, rules, layout, out);
}

}  // namespace mmcpp::families
