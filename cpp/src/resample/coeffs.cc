// Filter windows. All arithmetic is in double and in the order of Pillow's Resample.c and ATen's
// UpSampleKernel.cpp, which agree up to the quantisation.
#include "resample/coeffs.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/ensure.h"

namespace mmcpp::resample {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr int kPillowPrecision = 22;          // 32 bits less 8 of the pixel and 2 of head room
constexpr int kAtenMaxPrecision = 22;         // torch 2.13; the crate sglang-mm stops at 21
constexpr double kAtenWeightEnd = 32768;      // ATen keeps weights in int16
constexpr double kMaxTableWeights = 1 << 28;  // INT_MAX / sizeof(double), as in Pillow

double Box(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }

double Bilinear(double x) {
  x = std::fabs(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

double Hamming(double x) {
  x = std::fabs(x);
  if (x == 0.0) return 1.0;
  if (x >= 1.0) return 0.0;
  x *= kPi;
  return std::sin(x) / x * (0.54f + 0.46f * std::cos(x));  // single precision in Pillow too
}

double Bicubic(double x) {
  constexpr double kA = -0.5;
  x = std::fabs(x);
  if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0.0;
}

double Sinc(double x) {
  if (x == 0.0) return 1.0;
  x *= kPi;
  return std::sin(x) / x;
}

double Lanczos(double x) { return -3.0 <= x && x < 3.0 ? Sinc(x) * Sinc(x / 3) : 0.0; }

struct FilterShape {
  double (*weight)(double);
  double support;  // half the window at scale 1, in input pixels
};

FilterShape ShapeOf(Filter filter) {
  switch (filter) {
    case Filter::kBox:
      return {Box, 0.5};
    case Filter::kBilinear:
      return {Bilinear, 1.0};
    case Filter::kHamming:
      return {Hamming, 1.0};
    case Filter::kBicubic:
      return {Bicubic, 2.0};
    case Filter::kLanczos:
      return {Lanczos, 3.0};
  }
  return {Box, 0.5};
}

// One output's window: normalised weights of inputs first, first + 1, ...
struct Window {
  int32_t first = 0;
  std::vector<double> weights;
};

void ComputeWindow(int i, int in_size, double scale, const FilterShape& shape, Window* window) {
  const double filter_scale = std::max(scale, 1.0);
  const double support = shape.support * filter_scale;
  const double inverse = 1.0 / filter_scale;
  const double center = (i + 0.5) * scale;
  // Casts truncate toward zero, which is what makes a negative begin zero or clamp.
  int64_t begin = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
  int64_t end = std::min<int64_t>(static_cast<int64_t>(center + support + 0.5), in_size);
  // No window is empty in exact arithmetic; should rounding make one so, keep inside the picture.
  begin = std::min<int64_t>(begin, in_size - 1);
  end = std::max(end, begin + 1);
  window->first = static_cast<int32_t>(begin);
  window->weights.resize(static_cast<size_t>(end - begin));
  double sum = 0.0;
  for (int64_t k = 0; k < end - begin; ++k) {
    const double weight = shape.weight((static_cast<double>(k + begin) - center + 0.5) * inverse);
    window->weights[static_cast<size_t>(k)] = weight;
    sum += weight;
  }
  if (sum == 0.0) return;
  for (double& weight : window->weights) weight /= sum;
}

// The largest precision at which the axis' largest weight still fits int16.
int AtenPrecision(double max_weight) {
  int precision = 0;
  while (precision < kAtenMaxPrecision &&
         std::floor(0.5 + max_weight * std::ldexp(1.0, precision + 1)) < kAtenWeightEnd) {
    ++precision;
  }
  return precision;
}

int32_t Quantise(double weight, double one) {
  const double scaled = weight * one;
  return static_cast<int32_t>(weight < 0 ? scaled - 0.5 : scaled + 0.5);
}

}  // namespace

simd::ResampleAxis AxisWeights::View() const {
  return {in_size,      out_size,       precision, max_count, first.data(),
          count.data(), weights.data(), stride,    nullptr};
}

Result<AxisWeights> MakeAxisWeights(int in_size, int out_size, Filter filter,
                                    Convention convention) {
  const bool aten = convention == Convention::kAtenU8;
  const FilterShape shape = ShapeOf(filter);
  const double scale = static_cast<double>(in_size) / out_size;
  const double widest = std::ceil(shape.support * std::max(scale, 1.0)) * 2 + 1;
  const double stride = std::min<double>(widest, in_size);
  if (widest * out_size > kMaxTableWeights) {
    return Error{ErrorCode::kLimitExceeded, "resize: " + std::to_string(in_size) + " -> " +
                                                std::to_string(out_size) +
                                                " needs a table of more than 2^28 weights"};
  }
  AxisWeights axis;
  axis.in_size = in_size;
  axis.out_size = out_size;
  axis.stride = static_cast<size_t>(stride);
  const size_t n = static_cast<size_t>(out_size);
  axis.first.resize(n);
  axis.count.resize(n);
  axis.weights.resize(n * axis.stride);

  Window window;
  axis.precision = kPillowPrecision;
  if (aten) {
    double max_weight = 0.0;
    for (int i = 0; i < out_size; ++i) {
      ComputeWindow(i, in_size, scale, shape, &window);
      for (double weight : window.weights) max_weight = std::max(max_weight, weight);
    }
    axis.precision = AtenPrecision(max_weight);
  }
  const double one = std::ldexp(1.0, axis.precision);
  for (int i = 0; i < out_size; ++i) {
    ComputeWindow(i, in_size, scale, shape, &window);
    const size_t count = window.weights.size();
    MMCPP_ENSURE(count <= axis.stride);
    axis.first[static_cast<size_t>(i)] = window.first;
    axis.count[static_cast<size_t>(i)] = static_cast<int32_t>(count);
    axis.max_count = std::max(axis.max_count, static_cast<int32_t>(count));
    int32_t* weights = axis.weights.data() + static_cast<size_t>(i) * axis.stride;
    for (size_t k = 0; k < count; ++k) weights[k] = Quantise(window.weights[k], one);
  }
  return axis;
}

}  // namespace mmcpp::resample
