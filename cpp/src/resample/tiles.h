// A resize that hands its result on in tiles while they are in cache, so that the resized picture
// never exists as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "mmcpp/image.h"
#include "mmcpp/resize.h"
#include "mmcpp/status.h"
#include "resample/canvas.h"

namespace mmcpp::resample {

/// A part of what a resize gives: pixel (y + i, x + j) is at rows + i * row_bytes + 3 * j.
struct Tile {
  int y = 0, x = 0;
  int height = 0, width = 0;
  const uint8_t* rows = nullptr;
  size_t row_bytes = 0;
};

/// A borrowed callable void(const Tile&); called from several threads at once, it must not throw.
class TileFn {
 public:
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, TileFn>>>
  TileFn(F&& body)  // NOLINT(google-explicit-constructor)
      : body_(const_cast<void*>(static_cast<const void*>(&body))),
        call_([](void* f, const Tile& tile) {
          (*static_cast<std::remove_reference_t<F>*>(f))(tile);
        }) {}
  void operator()(const Tile& tile) const { call_(body_, tile); }

 private:
  void* body_;
  void (*call_)(void*, const Tile&);
};

/// Resizes `image` onto `canvas`, as Resize gives it, and calls `fn` for tiles that together are
/// the canvas, each once. Tiles are `unit` rows high and a multiple of `unit` columns wide, but for
/// those at the bottom and right of a canvas whose sides are no multiples. Where a canvas is
/// covered by a picture of its own size, tiles are views of `image` itself. Errors as Resize, and
/// kInvalidArgument for a picture that is not within its canvas; then some tiles may have been
/// handed out.
Status ResizeTiles(const ImageView& image, const Canvas& canvas, Filter filter,
                   Convention convention, int unit, TileFn fn);

/// The same of rows as they come: no more of them are kept than the resize looks back for, and a
/// strip of about 256 KiB. All rows are read, and errors of reading are errors of this. Rows that
/// are in memory as a whole go the way above.
Status ResizeTiles(RowSource* rows, const Canvas& canvas, Filter filter, Convention convention,
                   int unit, TileFn fn);

}  // namespace mmcpp::resample
