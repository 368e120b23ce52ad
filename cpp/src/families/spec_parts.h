// Values of specs that more than one family reads.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "families/spec.h"
#include "transforms/size_rules.h"

namespace mmcpp::families {

/// Three numbers from 0 to 255; black when the key is absent.
std::array<uint8_t, 3> ReadColor(SpecReader* spec, const char* key);

/// One pair or more of height and width, multiples of `tile`: what pictures are fitted into before
/// they are cut into tiles.
std::vector<transforms::Size> ReadResolutions(SpecReader* spec, const char* key, int tile);

}  // namespace mmcpp::families
