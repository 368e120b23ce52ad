// torch's float kernels without antialiasing, of pictures and of canvases as they are made. Which
// products are fused with which sums is part of the result: std::fma stands where torch's code has
// a fused operation, and nowhere else.
#include "resample/float_resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "mmcpp/tensor.h"
#include "par/par.h"
#include "resample/resampler.h"
#include "simd/kernels.h"

namespace mmcpp::resample {
namespace {

constexpr size_t kGrainValues = size_t{16} << 10;
constexpr size_t kMaxTaps = 4;
constexpr int64_t kSmallSides = 128;  // up to which torch takes one kernel with any threads

/// Where an output reads along an axis, and how much of it.
struct Tap {
  std::array<int, kMaxTaps> index = {};
  std::array<float, kMaxTaps> weight = {};
};

float SourceOf(int out, int in_size, int out_size) {
  const float scale = static_cast<float>(in_size) / static_cast<float>(out_size);
  return std::fma(scale, static_cast<float>(out) + 0.5f, -0.5f);
}

Tap BilinearTap(int out, int in_size, int out_size) {
  const float source = std::max(SourceOf(out, in_size, out_size), 0.0f);
  const int first = std::min(static_cast<int>(source), in_size - 1);
  const float rest = std::min(std::max(source - static_cast<float>(first), 0.0f), 1.0f);
  return {{first, std::min(first + 1, in_size - 1)}, {1.0f - rest, rest}};
}

// The cubic convolution of A = -0.75, near its centre and beside it.
float Near(float x) { return std::fma(1.25f, x, -2.25f) * x * x + 1.0f; }
float Beside(float x) { return std::fma(std::fma(-0.75f, x, 3.75f), x, -6.0f) * x + 3.0f; }

Tap BicubicTap(int out, int in_size, int out_size) {
  const float source = SourceOf(out, in_size, out_size);
  const float floor = std::floor(source);
  const float rest = source - floor;
  const float other = 1.0f - rest;
  Tap tap;
  for (int k = 0; k < 4; ++k) {
    tap.index[static_cast<size_t>(k)] =
        std::min(std::max(static_cast<int>(floor) - 1 + k, 0), in_size - 1);
  }
  tap.weight = {Beside(rest + 1.0f), Near(rest), Near(other), Beside(other + 1.0f)};
  return tap;
}

std::vector<Tap> MakeTaps(int in_size, int out_size, FloatFilter filter) {
  std::vector<Tap> taps(static_cast<size_t>(out_size));
  for (int i = 0; i < out_size; ++i) {
    taps[static_cast<size_t>(i)] = filter == FloatFilter::kBicubic
                                       ? BicubicTap(i, in_size, out_size)
                                       : BilinearTap(i, in_size, out_size);
  }
  return taps;
}

size_t Grain(const std::vector<Tap>& columns) {
  return std::max<size_t>(kGrainValues / columns.size(), kMaxTaps);
}

using Four = std::array<float, kMaxTaps>;

float Combine(const Four& value, const Four& weight) {
  return std::fma(
      value[3], weight[3],
      std::fma(value[2], weight[2], std::fma(value[0], weight[0], value[1] * weight[1])));
}

// Values are upper left, upper right, lower left, lower right.
float BilinearAtOnce(const Four& value, const Four& y, const Four& x) {
  return Combine(value, {y[0] * x[0], y[0] * x[1], y[1] * x[0], y[1] * x[1]});
}

float BilinearByAxis(const Four& value, const Four& y, const Four& x) {
  const float upper = std::fma(x[0], value[0], x[1] * value[1]);
  const float lower = std::fma(x[0], value[2], x[1] * value[3]);
  return std::fma(y[0], upper, y[1] * lower);
}

/// Rows of the result in one thread, in ascending order.
class Worker {
 public:
  Worker(const InputRows& image, const std::vector<Tap>& columns, const ByteValues& values)
      : image_(image),
        columns_(columns),
        values_(values),
        memory_(columns.size() * 3 * (1 + kMaxTaps)) {
    for (size_t channel = 0; channel < 3; ++channel) {
      planes_[channel] = memory_.data() + channel * columns.size();
    }
  }

  float* const* planes() const { return planes_.data(); }

  template <class Combine>
  void Bilinear(const Tap& row, const Combine& combine) {
    const uint8_t* upper = image_.row(row.index[0]);
    const uint8_t* lower = image_.row(row.index[1]);
    for (size_t x = 0; x < columns_.size(); ++x) {
      const Tap& column = columns_[x];
      const size_t left = static_cast<size_t>(column.index[0]) * 3;
      const size_t right = static_cast<size_t>(column.index[1]) * 3;
      for (size_t c = 0; c < 3; ++c) {
        const auto& value = values_[c];
        planes_[c][x] = combine({value[upper[left + c]], value[upper[right + c]],
                                 value[lower[left + c]], value[lower[right + c]]},
                                row.weight, column.weight);
      }
    }
  }

  void Bicubic(const Tap& row) {
    std::array<const float*, kMaxTaps> rows;
    for (size_t k = 0; k < kMaxTaps; ++k) rows[k] = Horizontal(row.index[k]);
    const size_t n = columns_.size();
    for (size_t i = 0; i < 3 * n; ++i) {
      planes_[0][i] = Combine({rows[0][i], rows[1][i], rows[2][i], rows[3][i]}, row.weight);
    }
  }

 private:
  /// Row y of the picture resampled along x; the last four are kept, which neighbours share.
  const float* Horizontal(int y) {
    const size_t slot = static_cast<size_t>(y) % kMaxTaps;
    const size_t n = columns_.size();
    float* out = memory_.data() + (1 + slot) * 3 * n;
    if (kept_[slot] == y) return out;
    kept_[slot] = y;
    const uint8_t* in = image_.row(y);
    for (size_t x = 0; x < n; ++x) {
      const Tap& column = columns_[x];
      for (size_t c = 0; c < 3; ++c) {
        Four value;
        for (size_t k = 0; k < kMaxTaps; ++k) {
          value[k] = values_[c][in[static_cast<size_t>(column.index[k]) * 3 + c]];
        }
        out[c * n + x] = Combine(value, column.weight);
      }
    }
    return out;
  }

  const InputRows image_;
  const std::vector<Tap>& columns_;
  const ByteValues& values_;
  std::vector<float> memory_;  // the row of the result, then the kept ones; three planes each
  std::array<float*, 3> planes_;
  std::array<int, kMaxTaps> kept_ = {-1, -1, -1, -1};
};

Status CheckSides(int height, int width, int out_height, int out_width) {
  if (height > 0 && width > 0 && out_height > 0 && out_width > 0) return Ok{};
  return InvalidArgument("resize: " + std::to_string(height) + "x" + std::to_string(width) +
                         " to " + std::to_string(out_height) + "x" + std::to_string(out_width) +
                         ": sides must be positive");
}

/// [begin, end).
struct RowRange {
  int begin = 0, end = 0;
};

/// The rows of a canvas, made from top to bottom, the last of them kept in a ring.
class CanvasRows {
 public:
  /// The rows of `all`, of which `kept` at a time are needed. Those of `own` are given to `fn`.
  static Result<CanvasRows> Make(const Resampler& resampler, const CanvasResize& resize,
                                 const RowRange& all, const RowRange& own, int kept, TileFn fn) {
    const Canvas& canvas = resize.canvas;
    MMCPP_ASSIGN(auto block,
                 CanvasBlock::Make(resampler, canvas, resize.image, 0, canvas.width, all.begin));
    CanvasRows rows(std::move(block), all.end, own, fn);
    rows.kept_ = ((kept - 1) / kStep + 2) * kStep;
    const size_t row_bytes = static_cast<size_t>(canvas.width) * 3;
    size_t bytes;
    if (!CheckedMul(row_bytes, static_cast<size_t>(rows.kept_), &bytes)) {
      return Error{ErrorCode::kOutOfMemory, "resize: rows of the canvas overflow memory"};
    }
    MMCPP_ASSIGN(rows.memory_, Buffer::Allocate(bytes));
    rows.view_ = {rows.memory_.data(), canvas.height, canvas.width, row_bytes};
    return rows;
  }

  InputRows input() const { return {view_, kept_}; }

  /// Makes the rows before `until`, and up to a step more.
  void Advance(int until) {
    while (block_.y() < until) {
      const int y = block_.y(), n = std::min(kStep - y % kStep, end_ - y);
      uint8_t* rows = memory_.data() + static_cast<size_t>(y % kept_) * view_.row_bytes;
      block_.Next(n, rows, view_.row_bytes);
      const int top = std::max(y, own_.begin), bottom = std::min(y + n, own_.end);
      if (top >= bottom) continue;
      fn_({top, 0, bottom - top, view_.width, input().row(top), view_.row_bytes});
    }
  }

 private:
  static constexpr int kStep = simd::kResampleRows;  // which the kernels take at once

  CanvasRows(CanvasBlock block, int end, const RowRange& own, TileFn fn)
      : block_(std::move(block)), end_(end), own_(own), fn_(fn) {}

  CanvasBlock block_;
  int end_, kept_ = 0;
  RowRange own_;
  TileFn fn_;
  Buffer memory_;
  ImageView view_;
};

/// Which rows of a canvas each row of its resize needs, and which of them it has to give on.
class RowNeeds {
 public:
  RowNeeds(const std::vector<Tap>& taps, int canvas_height)
      : taps_(taps), canvas_height_(canvas_height) {
    for (size_t y = 0; y < taps.size(); ++y) {
      most_ = std::max(most_, Of(y).end - taps[y].index.front());
    }
  }

  int most() const { return most_; }  ///< at a time

  RowRange Own(size_t begin, size_t end) const { return {Share(begin), Share(end)}; }
  RowRange Of(size_t y) const {
    return {std::min(taps_[y].index.front(), Share(y)),
            std::max(taps_[y].index.back() + 1, Share(y + 1))};
  }

 private:
  int Share(size_t y) const {
    return static_cast<int>(y * static_cast<size_t>(canvas_height_) / taps_.size());
  }

  const std::vector<Tap>& taps_;
  int canvas_height_;
  int most_ = 0;
};

}  // namespace

Status ResizeFloatRows(const ImageView& image, int out_height, int out_width, FloatFilter filter,
                       const ByteValues& values, FloatRowFn fn) {
  MMCPP_TRY(CheckSides(image.height, image.width, out_height, out_width));
  const bool by_axis =
      filter == FloatFilter::kBilinearThreads && int64_t{out_height} + out_width > kSmallSides;
  return CatchOutOfMemory([&]() -> Status {
    const std::vector<Tap> rows = MakeTaps(image.height, out_height, filter);
    const std::vector<Tap> columns = MakeTaps(image.width, out_width, filter);
    return par::TryRanges(rows.size(), Grain(columns), [&](size_t begin, size_t end) -> Status {
      Worker worker(image, columns, values);
      for (size_t y = begin; y < end; ++y) {
        if (filter == FloatFilter::kBicubic) {
          worker.Bicubic(rows[y]);
        } else if (by_axis) {
          worker.Bilinear(rows[y], BilinearByAxis);
        } else {
          worker.Bilinear(rows[y], BilinearAtOnce);
        }
        fn(static_cast<int>(y), worker.planes());
      }
      return Ok{};
    });
  });
}

Status ResizeTilesAndFloatRows(const CanvasResize& first, TileFn tile_fn, int out_height,
                               int out_width, const ByteValues& values, FloatRowFn row_fn) {
  const Canvas& canvas = first.canvas;
  MMCPP_ASSIGN(const auto resampler,
               Resampler::Make(first.image, canvas.picture.height, canvas.picture.width,
                               first.filter, first.convention));
  MMCPP_TRY(CheckCanvas(canvas));
  MMCPP_TRY(CheckSides(canvas.height, canvas.width, out_height, out_width));
  return CatchOutOfMemory([&]() -> Status {
    const std::vector<Tap> rows = MakeTaps(canvas.height, out_height, FloatFilter::kBicubic);
    const std::vector<Tap> columns = MakeTaps(canvas.width, out_width, FloatFilter::kBicubic);
    const RowNeeds needs(rows, canvas.height);
    const size_t grain = std::max(
        Grain(columns), resampler.GrainRows() * rows.size() / static_cast<size_t>(canvas.height));
    return par::TryRanges(rows.size(), grain, [&](size_t begin, size_t end) -> Status {
      const RowRange all = {needs.Of(begin).begin, needs.Of(end - 1).end};
      MMCPP_ASSIGN(auto made, CanvasRows::Make(resampler, first, all, needs.Own(begin, end),
                                               needs.most(), tile_fn));
      Worker worker(made.input(), columns, values);
      for (size_t y = begin; y < end; ++y) {
        made.Advance(needs.Of(y).end);
        worker.Bicubic(rows[y]);
        row_fn(static_cast<int>(y), worker.planes());
      }
      return Ok{};
    });
  });
}

}  // namespace mmcpp::resample
