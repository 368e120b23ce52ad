// torch's float kernels without antialiasing. Which products are fused with which sums is part of
// the result: std::fma stands where torch's code has a fused operation, and nowhere else.
#include "resample/float_resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ensure.h"
#include "par/par.h"

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
  Worker(const ImageView& image, const std::vector<Tap>& columns, const ByteValues& values)
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

  const ImageView image_;
  const std::vector<Tap>& columns_;
  const ByteValues& values_;
  std::vector<float> memory_;  // the row of the result, then the kept ones; three planes each
  std::array<float*, 3> planes_;
  std::array<int, kMaxTaps> kept_ = {-1, -1, -1, -1};
};

}  // namespace

Status ResizeFloatRows(const ImageView& image, int out_height, int out_width, FloatFilter filter,
                       const ByteValues& values, FloatRowFn fn) {
  if (image.height <= 0 || image.width <= 0 || out_height <= 0 || out_width <= 0) {
    return InvalidArgument("resize: " + std::to_string(image.height) + "x" +
                           std::to_string(image.width) + " to " + std::to_string(out_height) + "x" +
                           std::to_string(out_width) + ": sides must be positive");
  }
  const bool by_axis =
      filter == FloatFilter::kBilinearThreads && int64_t{out_height} + out_width > kSmallSides;
  return CatchOutOfMemory([&]() -> Status {
    const std::vector<Tap> rows = MakeTaps(image.height, out_height, filter);
    const std::vector<Tap> columns = MakeTaps(image.width, out_width, filter);
    const size_t grain = std::max<size_t>(kGrainValues / columns.size(), kMaxTaps);
    return par::TryRanges(rows.size(), grain, [&](size_t begin, size_t end) -> Status {
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

}  // namespace mmcpp::resample
