// Huffman tables of baseline JPEGs in the form that the kernels look them up.
#pragma once

#include "codec/jpeg_frame.h"
#include "simd/kernels_jpeg.h"

namespace mmcpp::codec {

// False if the table is one that libjpeg refuses (jdhuff.c, jpeg_make_d_derived_tbl), or has
// symbols that no baseline picture of 8 bits needs. An AC table holds no value that times
// `max_quantiser` might be over what kernels take, and is looked up by `bits`,
// kJpegMinAcBits or kJpegMaxAcBits.
bool BuildDcTable(const JpegHuffmanSpec& spec, simd::JpegDcTable* table);
bool BuildAcTable(const JpegHuffmanSpec& spec, int max_quantiser, uint32_t bits,
                  simd::JpegAcTable* table);

}  // namespace mmcpp::codec
