// Content hashing, by size.
#include <benchmark/benchmark.h>

#include <vector>

#include "mmcpp/hash.h"

namespace mmcpp {
namespace {

void Hash(benchmark::State& state) {
  const std::vector<uint8_t> bytes(static_cast<size_t>(state.range(0)), 0x5a);
  const uint64_t expected = ContentHash(bytes);
  for (auto _ : state) {
    if (ContentHash(bytes) != expected) return state.SkipWithError("another hash");
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Hash)->Arg(1 << 10)->Arg(64 << 10)->Arg(4 << 20);

}  // namespace
}  // namespace mmcpp
