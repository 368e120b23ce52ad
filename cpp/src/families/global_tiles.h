// DeepSeek-VL2, DeepSeek-OCR, DeepSeek-OCR 2, Unlimited-OCR: the picture as a whole on a square,
// then tiles of it.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: layout ("deepseek_vl2", which is the default, "deepseek_ocr", "deepseek_ocr2" or
/// "unlimited_ocr"), tile_size,
/// tile_tokens (along a side of a tile), those of ItemPrompt and PixelRules; optional background
/// (black). Of "deepseek_vl2" image_grid_pinpoints, pairs of height and width; its whole is a tile
/// like the others. Of the rest global_size and global_tokens (along a side of the whole),
/// min_tiles and max_tiles. The feature of those is flat: pixel_values [1, 3, global_size,
/// global_size] and, of a picture with a side over tile_size, its tiles [n, 3, tile_size,
/// tile_size], called images_crop ("deepseek_ocr") or pixel_values_local.
Result<std::unique_ptr<const Family>> MakeGlobalTiles(SpecReader spec);

}  // namespace mmcpp::families
