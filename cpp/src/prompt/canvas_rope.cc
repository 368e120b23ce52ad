// Canvas M-RoPE positions: text counts on all three axes together; a picture stands still on the
// first, and on the others its tokens and marks have places of one canvas.
#include "prompt/canvas_rope.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/checked.h"
#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "mmcpp/prompt.h"

namespace mmcpp::prompt {
namespace {

Status CheckPicture(const CanvasPicture& picture, size_t previous_end, size_t length) {
  const TokenRange& range = picture.range;
  if (range.first < previous_end || range.last < range.first || range.last >= length) {
    return InvalidArgument("canvas rope: item range (" + std::to_string(range.first) + "," +
                           std::to_string(range.last) + ") out of order/bounds");
  }
  const uint64_t span = uint64_t{range.last} - range.first + 1;
  const uint64_t whole = uint64_t{picture.whole.h} * picture.whole.w;
  const uint64_t slice = uint64_t{picture.slice.h} * picture.slice.w;
  const uint64_t slices = uint64_t{picture.slices.h} * picture.slices.w;
  // Each at most the span, below 2^33, before they are added.
  uint64_t sliced = 0;
  const bool fits = whole <= span && slice <= span && CheckedMul(slices, slice + 2, &sliced) &&
                    sliced <= span && picture.slices.h <= span;
  const uint64_t row_ends = slices == 0 ? 0 : picture.slices.h - 1;
  if (!fits || whole == 0 || whole + 2 + sliced + row_ends != span) {
    return InvalidArgument("canvas rope: token span does not match grids");
  }
  return Ok{};
}

/// The i-th of `count` places spread over `extent`, as torch.linspace(0, extent - 1, count) in
/// float32 and its round have them.
int64_t Spread(uint32_t extent, uint32_t count, uint32_t i) {
  if (count == 1) return 0;
  const auto end = static_cast<float>(extent - 1);
  const float step = end / static_cast<float>(count - 1);
  const float place =
      i < count / 2 ? step * static_cast<float>(i) : end - step * static_cast<float>(count - 1 - i);
  return static_cast<int64_t>(std::nearbyint(place));
}

/// Writes the three rows of [3, length] from left to right.
class Canvas {
 public:
  Canvas(Tensor* ids, Span<const int64_t> input_ids, Span<const int64_t> marks)
      : t_(ids->As<int64_t>().data()),
        h_(t_ + input_ids.size()),
        w_(h_ + input_ids.size()),
        input_ids_(input_ids),
        marks_(marks) {}

  void WriteTextUntil(size_t end) {
    for (; at_ < end; ++at_, ++next_) t_[at_] = h_[at_] = w_[at_] = next_;
  }

  void WritePicture(const CanvasPicture& picture) {
    const int64_t origin = next_;
    const CanvasGrid& slice = picture.slice;
    const bool sliced = picture.slices.h > 0;
    const CanvasGrid canvas =
        sliced ? CanvasGrid{picture.slices.h * slice.h, picture.slices.w * slice.w} : picture.whole;
    at_ = picture.range.first;
    const int64_t halo = std::max<int64_t>(origin - 1, 0);
    Write(origin, halo, halo);
    for (uint32_t h = 0; h < picture.whole.h; ++h) {
      for (uint32_t w = 0; w < picture.whole.w; ++w) {
        Write(origin, origin + Spread(canvas.h, picture.whole.h, h),
              origin + Spread(canvas.w, picture.whole.w, w));
      }
    }
    Write(origin, origin + canvas.h, origin + canvas.w);
    for (uint32_t row = 0; row < picture.slices.h; ++row) {
      const int64_t top = origin + int64_t{row} * slice.h;
      if (row > 0) Write(origin, top - 1, origin + canvas.w);
      for (uint32_t column = 0; column < picture.slices.w; ++column) {
        WriteSlice(origin, top, origin + int64_t{column} * slice.w, slice);
      }
    }
    // Marks of the text right behind a picture are taken for its own, and so is the next one's
    // first, which is written anew then.
    while (at_ < input_ids_.size() && IsMark(input_ids_[at_])) Write(origin, origin, origin);
    next_ = origin + std::max(canvas.h, canvas.w) + 1;
  }

  /// One more than the largest position written.
  int64_t next() const { return next_; }

 private:
  void Write(int64_t t, int64_t h, int64_t w) {
    t_[at_] = t;
    h_[at_] = h;
    w_[at_] = w;
    ++at_;
  }

  void WriteSlice(int64_t origin, int64_t top, int64_t left, const CanvasGrid& slice) {
    Write(origin, top, left);
    for (uint32_t h = 0; h < slice.h; ++h) {
      for (uint32_t w = 0; w < slice.w; ++w) Write(origin, top + h, left + w);
    }
    Write(origin, top + slice.h - 1, left + slice.w - 1);
  }

  bool IsMark(int64_t id) const {
    return std::find(marks_.begin(), marks_.end(), id) != marks_.end();
  }

  int64_t* t_;
  int64_t* h_;
  int64_t* w_;
  const Span<const int64_t> input_ids_, marks_;
  size_t at_ = 0;
  int64_t next_ = 0;
};

Result<MRope> Compute(Span<const int64_t> input_ids, Span<const CanvasPicture> pictures,
                      Span<const int64_t> marks) {
  const size_t length = input_ids.size();
  if (length > kMaxMropeTokens) {
    return LimitExceeded("canvas rope: " + std::to_string(length) + " tokens, the limit is " +
                         std::to_string(kMaxMropeTokens));
  }
  size_t previous_end = 0;
  for (const CanvasPicture& picture : pictures) {
    MMCPP_TRY(CheckPicture(picture, previous_end, length));
    previous_end = size_t{picture.range.last} + 1;
  }
  MRope result;
  MMCPP_ASSIGN(result.position_ids,
               Tensor::Allocate(DType::kI64, {3, static_cast<int64_t>(length)}));
  Canvas canvas(&result.position_ids, input_ids, marks);
  for (const CanvasPicture& picture : pictures) {
    canvas.WriteTextUntil(picture.range.first);
    canvas.WritePicture(picture);
  }
  canvas.WriteTextUntil(length);
  result.delta = canvas.next() - static_cast<int64_t>(length);
  return result;
}

}  // namespace

Result<MRope> CanvasPositions(Span<const int64_t> input_ids, Span<const CanvasPicture> pictures,
                              Span<const int64_t> marks) {
  return CatchOutOfMemory([&] { return Compute(input_ids, pictures, marks); });
}

}  // namespace mmcpp::prompt
