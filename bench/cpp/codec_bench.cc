// Decoding a JPEG, beside libjpeg-turbo alone into a ready buffer; bytes are those of the pixels.
#include <benchmark/benchmark.h>
#include <jpeglib.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "inputs.h"
#include "jpeg_file.h"
#include "mmcpp/image.h"

namespace mmcpp {
namespace {

void BareDecode(const std::vector<uint8_t>& bytes, Image* image) {
  jpeg_decompress_struct codec;
  jpeg_error_mgr errors;
  codec.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&codec);
  jpeg_mem_src(&codec, bytes.data(), bytes.size());
  jpeg_read_header(&codec, TRUE);
  codec.out_color_space = JCS_RGB;
  jpeg_start_decompress(&codec);
  while (codec.output_scanline < codec.output_height) {
    JSAMPROW row = image->row(static_cast<int>(codec.output_scanline));
    jpeg_read_scanlines(&codec, &row, 1);
  }
  jpeg_finish_decompress(&codec);
  jpeg_destroy_decompress(&codec);
}

// Arguments: height, width, and 1 for the library or 0 for libjpeg-turbo alone.
void DecodeJpeg(benchmark::State& state) {
  const int height = static_cast<int>(state.range(0)), width = static_cast<int>(state.range(1));
  const std::vector<uint8_t> bytes = bench::JpegFile(bench::Photo(height, width), 85, 2);
  Image bare = *Image::Allocate(height, width);
  BareDecode(bytes, &bare);
  const auto image = DecodeImage(bytes);
  const size_t size = bare.row_bytes() * static_cast<size_t>(height);
  if (!image.ok() || std::memcmp(image->data(), bare.data(), size) != 0) {
    return state.SkipWithError("another picture");
  }
  for (auto _ : state) {
    if (state.range(2) == 0) {
      BareDecode(bytes, &bare);
    } else {
      benchmark::DoNotOptimize(DecodeImage(bytes));
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(size));
}
BENCHMARK(DecodeJpeg)
    ->ArgNames({"h", "w", "mmcpp"})
    ->ArgsProduct({{1080}, {1920}, {0, 1}})
    ->ArgsProduct({{3000}, {4000}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace mmcpp
