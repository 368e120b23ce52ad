// The image half of Qwen2-VL from pixels to packed patches, by dtype; bytes are those of the
// pixels.
#include <benchmark/benchmark.h>

#include "inputs.h"
#include "mmcpp/driver.h"
#include "mmcpp/registry.h"

namespace mmcpp {
namespace {

constexpr char kSpec[] =
    R"({"family": "qwen_vl", "image_token_id": 151655, "patch_size": 14, "merge_size": 2,
        "temporal_patch_size": 2, "min_pixels": 3136, "max_pixels": 1003520, "resample": "pil",
        "image_mean": [0.48145466, 0.4578275, 0.40821073],
        "image_std": [0.26862954, 0.26130258, 0.27577711]})";

// Arguments: height, width and DType of the feature.
void QwenItem(benchmark::State& state) {
  const auto family = FamilyFromSpec(kSpec);
  if (!family.ok()) return state.SkipWithError(family.error().message.c_str());
  const Image image =
      bench::Photo(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  const MediaSource source = ImageView(image);
  ProcessOptions options;
  options.dtype = static_cast<DType>(state.range(2));
  for (auto _ : state) {
    const auto batch = ProcessItems(**family, {&source, 1}, options);
    if (!batch.ok()) return state.SkipWithError(batch.error().message.c_str());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * state.range(1) * 3);
  state.SetLabel(DTypeName(options.dtype));
}
BENCHMARK(QwenItem)
    ->ArgNames({"h", "w", "dtype"})
    ->ArgsProduct({{1080},
                   {1920},
                   {static_cast<int>(DType::kF32), static_cast<int>(DType::kBf16),
                    static_cast<int>(DType::kU8)}})
    ->Args({3000, 4000, static_cast<int>(DType::kF32)})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace mmcpp
