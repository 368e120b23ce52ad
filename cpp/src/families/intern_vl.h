// InternVL as sglang preprocesses it.
#pragma once

#include <memory>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Keys, as the crate sglang-mm's branch for it has them: image_token_id (the placeholder),
/// img_context_token_id, img_start_token_id, img_end_token_id, image_size, num_image_token,
/// max_num, image_mean, image_std; optional use_thumbnail (true).
Result<std::unique_ptr<const Family>> MakeInternVlFloat(SpecReader spec);

}  // namespace mmcpp::families
