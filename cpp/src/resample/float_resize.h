// Resampling of RGB8 pictures to float without antialiasing, bit for bit as torch does it, row by
// row.
#pragma once

#include <array>
#include <type_traits>

#include "mmcpp/image.h"
#include "mmcpp/resize.h"
#include "mmcpp/status.h"
#include "resample/canvas.h"
#include "resample/tiles.h"

namespace mmcpp::resample {

enum class FloatFilter {
  kBilinear,         ///< as torch resamples with one thread
  kBilinearThreads,  ///< with several: other roundings where height + width of the result is over
                     ///< 128
  kBicubic,          ///< the same with any number of threads
};

/// What a byte is before it is resampled: value[channel][byte].
using ByteValues = std::array<std::array<float, 256>, 3>;

/// A borrowed callable void(int y, float* const planes[3]): row y of the result, out_width values a
/// channel, which may be overwritten. Called from several threads at once, it must not throw.
class FloatRowFn {
 public:
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, FloatRowFn>>>
  FloatRowFn(F&& body)  // NOLINT(google-explicit-constructor)
      : body_(const_cast<void*>(static_cast<const void*>(&body))),
        call_([](void* f, int y, float* const* planes) {
          (*static_cast<std::remove_reference_t<F>*>(f))(y, planes);
        }) {}
  void operator()(int y, float* const* planes) const { call_(body_, y, planes); }

 private:
  void* body_;
  void (*call_)(void*, int, float* const*);
};

/// Calls `fn` once for every row of the result. Equals torch 2.13's interpolate(float32,
/// align_corners=False, antialias=False) on a CPU with fused multiply-add, modes "bilinear" and
/// "bicubic", contiguous or channels_last. kInvalidArgument for an empty picture or result;
/// kOutOfMemory.
Status ResizeFloatRows(const ImageView& image, int out_height, int out_width, FloatFilter filter,
                       const ByteValues& values, FloatRowFn fn);

/// What is resized twice: onto a canvas, and the canvas in turn.
struct CanvasResize {
  const ImageView& image;
  const Canvas& canvas;
  Filter filter;
  Convention convention;
};

/// ResizeTiles of a picture and ResizeFloatRows of the canvas that it gives, bicubic, in one pass,
/// so that the canvas never exists as a whole. Tiles are whole rows of the canvas, any number at a
/// time. Errors as both.
Status ResizeTilesAndFloatRows(const CanvasResize& first, TileFn tile_fn, int out_height,
                               int out_width, const ByteValues& values, FloatRowFn row_fn);

}  // namespace mmcpp::resample
