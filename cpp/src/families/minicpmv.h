// MiniCPM-V: a picture and slices of it, each as a strip of patches.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: patch_size, merge_size (sides become multiples of both together) and scale_resolution, in
/// pixels; max_slices; those of PixelRules and of ItemPrompt. Optional: tokens_per_slice (one for
/// each merged patch), sizes (`target_sizes` with grids and num_patches_per_image as transformers
/// names them, or `tgt_sizes` alone as the code of 2.6 does) and the marks of the prompt, none by
/// default: image_start_token_ids and image_end_token_ids around the picture as a whole,
/// slice_start_token_ids and slice_end_token_ids around each slice, row_end_token_ids between rows
/// of slices, image_id_token_ids (before and behind a picture's number in the request, then the ten
/// digits) ahead of it all. A plan counts one digit. positions is `plain` or `canvas`, which
/// CanvasPositions computes and which needs one token of each of the first five marks.
Result<std::unique_ptr<const Family>> MakeMiniCpmV(SpecReader spec);

}  // namespace mmcpp::families
