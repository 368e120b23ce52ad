// Families that show a model every picture at one size: CLIP, SigLIP, DINOv2, LLaVA-1.5, Gemma 3,
// PaliGemma, Janus, DeepSeek-VL.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: height and width of what the model sees, tokens_per_image, those of ItemPrompt and
/// PixelRules; optional shortest_edge: the picture is resized so that its shorter side has this
/// length and its middle is cut out. Optional min_padded_side: the picture is resized so that its
/// longer side fills the square, no side shorter than that, and padded with background (three
/// bytes, black by default). With neither, it is stretched.
Result<std::unique_ptr<const Family>> MakeFixedSize(SpecReader spec);

}  // namespace mmcpp::families
