// Families that show a model every picture at its own size, in whole patches: Pixtral, Mistral
// Small 3.1 and later, LightOnOCR.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys: longest_edge, patch_size (pixels that one token stands for along a side; of Mistral 3 the
/// patch times the merge), those of ItemPrompt and PixelRules; optional token_size, where a token
/// stands for other pixels than patch_size and what is left at the ends counts for none
/// (LightOnOCR), row_end_token_ids (one or none, after each row of tokens but the last) and
/// end_token_ids (one or none, after the last row).
Result<std::unique_ptr<const Family>> MakePixtral(SpecReader spec);

}  // namespace mmcpp::families
