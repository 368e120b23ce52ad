// What the segments of a plain baseline JPEG say, for the decoder of this library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mmcpp/span.h"

namespace mmcpp::codec {

/// A Huffman table as its segment has it: symbols by ascending code, counts[i] of i + 1 bits.
struct JpegHuffmanSpec {
  const uint8_t* counts = nullptr;  // 16; null: no such table
  Bytes symbols;
};

struct JpegFrame {
  struct Component {
    const std::array<uint16_t, 64>* quantisers = nullptr;  // in zigzag order
    JpegHuffmanSpec dc, ac;
  };

  int height = 0;
  int width = 0;
  int components = 0;        ///< 1: gray; 3: YCbCr
  int h = 1, v = 1;          ///< samples of luma for one of chroma, each way
  int restart_interval = 0;  ///< MCUs; 0: none
  size_t scan = 0;           ///< where the scan's data begin
  std::array<Component, 3> component;
  std::array<std::array<uint16_t, 64>, 4> quantisers;
};

/// Reads the segments up to the first scan. Gives a frame only if nothing in them is odd and the
/// picture is one that the baseline decoder takes: 8 bits, Huffman codes, gray or what libjpeg
/// takes for YCbCr (jdapimin.c, default_decompress_parms), 4:4:4, 4:2:2 or 4:2:0 with chroma wide
/// enough for jdsample.c's fancy upsampling, and a scan of all components.
bool ReadJpegFrame(Bytes encoded, JpegFrame* frame);

}  // namespace mmcpp::codec
