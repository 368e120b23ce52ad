// Resizing, by the sizes that models ask for; bytes are those of the source.
#include <benchmark/benchmark.h>

#include <cstring>

#include "inputs.h"
#include "mmcpp/resize.h"

namespace mmcpp {
namespace {

// Arguments: height and width of the source, then of the result, then the convention.
void ResizeBicubic(benchmark::State& state) {
  const int height = static_cast<int>(state.range(0)), width = static_cast<int>(state.range(1));
  const int out_height = static_cast<int>(state.range(2)),
            out_width = static_cast<int>(state.range(3));
  const auto convention = static_cast<Convention>(state.range(4));
  const Image source = bench::Photo(height, width);
  const auto first = Resize(source, out_height, out_width, Filter::kBicubic, convention);
  if (!first.ok()) return state.SkipWithError(first.error().message.c_str());
  for (auto _ : state) {
    const auto again = Resize(source, out_height, out_width, Filter::kBicubic, convention);
    if (std::memcmp(first->data(), again->data(), 3) != 0)
      return state.SkipWithError("another picture");
  }
  state.SetBytesProcessed(state.iterations() * height * width * 3);
}
BENCHMARK(ResizeBicubic)
    ->ArgNames({"h", "w", "to_h", "to_w", "convention"})
    ->ArgsProduct({{1080}, {1920}, {756}, {1344}, {0, 1, 2}})
    ->Args({3000, 4000, 868, 1148, 0})
    ->Args({480, 640, 1024, 1024, 0})
    ->Unit(benchmark::kMillisecond);

// What memory alone costs: a copy of the 1080p source.
void CopyOfSource(benchmark::State& state) {
  const Image source = bench::Photo(1080, 1920);
  Image copy = *Image::Allocate(1080, 1920);
  for (auto _ : state) {
    std::memcpy(copy.data(), source.data(), source.row_bytes() * 1080);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(source.row_bytes()) * 1080);
}
BENCHMARK(CopyOfSource)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace mmcpp
