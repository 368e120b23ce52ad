// Families that give a model as many patches of every picture, the rest of them zero: SigLIP 2
// (NaFlex), Gemma 4.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: size_rule ("siglip2" or "gemma4"), patch_size, max_patches; optional pooling (1), the
/// patches along each side that one token stands for; those of ItemPrompt and PixelRules.
Result<std::unique_ptr<const Family>> MakePaddedPatches(SpecReader spec);

}  // namespace mmcpp::families
