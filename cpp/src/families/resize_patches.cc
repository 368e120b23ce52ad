// Joins the tiles of a resize to the writer of patches.
#include "families/resize_patches.h"

#include "base/ensure.h"
#include "resample/tiles.h"

namespace mmcpp::families {

namespace {

template <class Input>
Status Run(const Input& input, int height, int width, Filter filter, Convention convention,
           const transforms::BlockPatches& layout, const transforms::NormTable& table,
           TensorView out) {
  MMCPP_ASSIGN(const auto writer,
               transforms::BlockPatchWriter::Make(height, width, layout, table, out));
  return resample::ResizeTiles(input, height, width, filter, convention, layout.unit(),
                               [&writer](const resample::Tile& tile) {
                                 writer.Write(tile.y, tile.x, tile.width, tile.rows,
                                              tile.row_bytes);
                               });
}

}  // namespace

Status ResizeToPatches(const ImageView& image, int height, int width, Filter filter,
                       Convention convention, const transforms::BlockPatches& layout,
                       const transforms::NormTable& table, TensorView out) {
  return Run(image, height, width, filter, convention, layout, table, out);
}

Status ResizeToPatches(RowSource* rows, int height, int width, Filter filter, Convention convention,
                       const transforms::BlockPatches& layout, const transforms::NormTable& table,
                       TensorView out) {
  return Run(rows, height, width, filter, convention, layout, table, out);
}

}  // namespace mmcpp::families
