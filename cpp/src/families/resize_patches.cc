// Joins the tiles of a resize to the writer of patches.
#include "families/resize_patches.h"

#include <cstring>

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

Status ResizeToPaddedPatches(const ImageView& image, const transforms::PaddedSize& size,
                             Filter filter, Convention convention,
                             const transforms::BlockPatches& layout,
                             const transforms::NormTable& table, TensorView out) {
  MMCPP_ASSIGN(Image canvas, Image::Allocate(size.canvas.height, size.canvas.width));
  const transforms::Size& content = size.content;
  const size_t content_bytes = static_cast<size_t>(content.width) * 3;
  for (int y = 0; y < size.canvas.height; ++y) {
    const size_t kept = y < content.height ? content_bytes : 0;
    std::memset(canvas.row(y) + kept, 0, canvas.row_bytes() - kept);
  }
  MMCPP_TRY(ResizeInto(image, {canvas.data(), content.height, content.width, canvas.row_bytes()},
                       filter, convention));
  return transforms::PatchifyBlocks(canvas, layout, table, out);
}

}  // namespace mmcpp::families
