// Joins the tiles of a resize to the writer of patches.
#include "families/resize_patches.h"

#include "base/ensure.h"
#include "resample/tiles.h"

namespace mmcpp::families {

namespace {

template <class Input>
Status Run(const Input& input, const Canvas& canvas, Filter filter, Convention convention,
           const transforms::BlockPatches& layout, const transforms::NormTable& table,
           TensorView out) {
  MMCPP_ASSIGN(const auto writer,
               transforms::BlockPatchWriter::Make(canvas.height, canvas.width, layout, table, out));
  return resample::ResizeTiles(
      input, canvas, filter, convention, layout.unit(), [&writer](const resample::Tile& tile) {
        writer.Write(tile.y, tile.x, tile.width, tile.rows, tile.row_bytes);
      });
}

}  // namespace

Status ResizeToPatches(const ImageView& image, const Canvas& canvas, Filter filter,
                       Convention convention, const transforms::BlockPatches& layout,
                       const transforms::NormTable& table, TensorView out) {
  return Run(image, canvas, filter, convention, layout, table, out);
}

Status ResizeToPatches(RowSource* rows, const Canvas& canvas, Filter filter, Convention convention,
                       const transforms::BlockPatches& layout, const transforms::NormTable& table,
                       TensorView out) {
  return Run(rows, canvas, filter, convention, layout, table, out);
}

}  // namespace mmcpp::families
