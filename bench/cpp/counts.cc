// One piece of work, a given number of times: what bench/python/counts.py runs under callgrind. Two
// runs differ by whole repetitions, so the difference of their counts is free of what starting
// costs.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "inputs.h"
#include "jpeg_file.h"
#include "mmcpp/driver.h"
#include "mmcpp/hash.h"
#include "mmcpp/registry.h"
#include "mmcpp/resize.h"

namespace mmcpp::bench {
namespace {

using Work = std::function<bool()>;

struct Case {
  const char* name;
  std::function<Work()> prepare;
};

Work ResizeTo(int height, int width, int to_height, int to_width, Filter filter,
              Convention convention) {
  const auto source = std::make_shared<Image>(Photo(height, width));
  return [=] { return Resize(*source, to_height, to_width, filter, convention).ok(); };
}

constexpr char kSpec[] =
    R"({"family": "qwen_vl", "image_token_id": 151655, "patch_size": 14, "merge_size": 2,
        "temporal_patch_size": 2, "min_pixels": 3136, "max_pixels": 12845056, "resample": "pil",
        "image_mean": [0.48145466, 0.4578275, 0.40821073],
        "image_std": [0.26862954, 0.26130258, 0.27577711]})";

/// A picture whose sides are kept, so that what counts is normalising and cutting patches.
Work Features(DType dtype) {
  auto family = FamilyFromSpec(kSpec);
  if (!family.ok()) return [] { return false; };
  const std::shared_ptr<const Family> shared = std::move(*family);
  const auto source = std::make_shared<Image>(Photo(504, 504));
  return [=] {
    const MediaSource media = ImageView(*source);
    ProcessOptions options;
    options.dtype = dtype;
    return ProcessItems(*shared, {&media, 1}, options).ok();
  };
}

Work Decode(int subsampling) {
  const auto bytes =
      std::make_shared<std::vector<uint8_t>>(JpegFile(Photo(512, 512), 85, subsampling));
  return [=] { return DecodeImage(Bytes(*bytes), DecodeOptions{}).ok(); };
}

const Case kCases[] = {
    {"resize 540x960 to 378x672, bicubic, pillow",
     [] { return ResizeTo(540, 960, 378, 672, Filter::kBicubic, Convention::kPillow13); }},
    {"resize 540x960 to 378x672, lanczos, pillow",
     [] { return ResizeTo(540, 960, 378, 672, Filter::kLanczos, Convention::kPillow13); }},
    {"resize 540x960 to 378x672, bicubic, aten_u8",
     [] { return ResizeTo(540, 960, 378, 672, Filter::kBicubic, Convention::kAtenU8); }},
    {"resize 240x320 to 512x512, bicubic, pillow",
     [] { return ResizeTo(240, 320, 512, 512, Filter::kBicubic, Convention::kPillow13); }},
    {"patches of 504x504, float32", [] { return Features(DType::kF32); }},
    {"patches of 504x504, bfloat16", [] { return Features(DType::kBf16); }},
    {"patches of 504x504, float16", [] { return Features(DType::kF16); }},
    {"patches of 504x504, uint8", [] { return Features(DType::kU8); }},
    {"decode JPEG 512x512, 4:2:0 q85", [] { return Decode(2); }},
    {"decode JPEG 512x512, 4:4:4 q85", [] { return Decode(1); }},
};

int Main(int argc, char** argv) {
  if (argc == 1) {
    for (const Case& one : kCases) std::puts(one.name);
    return 0;
  }
  for (const Case& one : kCases) {
    if (argc != 3 || std::strcmp(one.name, argv[1]) != 0) continue;
    const Work work = one.prepare();
    for (int i = 0; i < std::atoi(argv[2]); ++i) {
      if (!work()) return 1;
    }
    return 0;
  }
  std::fputs("usage: mmcpp_counts [CASE REPETITIONS]; without arguments it lists the cases\n",
             stderr);
  return 2;
}

}  // namespace
}  // namespace mmcpp::bench

int main(int argc, char** argv) { return mmcpp::bench::Main(argc, argv); }
