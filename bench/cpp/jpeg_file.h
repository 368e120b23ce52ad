// JPEG files for the benchmarks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// After the above, whose types it uses.
#include <jpeglib.h>

#include "mmcpp/image.h"

namespace mmcpp::bench {

/// Encodes by libjpeg; chroma has every `subsampling`-th sample of each direction.
inline std::vector<uint8_t> JpegFile(const Image& image, int quality, int subsampling) {
  jpeg_compress_struct codec;
  jpeg_error_mgr errors;
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&codec, &data, &size);
  codec.image_width = static_cast<JDIMENSION>(image.width());
  codec.image_height = static_cast<JDIMENSION>(image.height());
  codec.input_components = 3;
  codec.in_color_space = JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, quality, TRUE);
  codec.comp_info[0].h_samp_factor = codec.comp_info[0].v_samp_factor = subsampling;
  jpeg_start_compress(&codec, TRUE);
  for (int y = 0; y < image.height(); ++y) {
    JSAMPROW row = const_cast<uint8_t*>(image.row(y));
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  std::vector<uint8_t> bytes(data, data + size);
  jpeg_destroy_compress(&codec);
  std::free(data);
  return bytes;
}

}  // namespace mmcpp::bench
