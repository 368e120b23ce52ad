// From a spec to a family.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mmcpp/export.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp {

/// What a spec may contain beyond its family's keys.
enum class UnknownKeys : uint8_t {
  kError,   ///< refused, naming the nearest known key
  kIgnore,  ///< as the reference crate does
};

/// Builds a family from a JSON object with the key "family" and that family's own keys.
/// Errors: kInvalidArgument with what is missing, misspelt or out of range.
MMCPP_EXPORT Result<std::unique_ptr<const Family>> FamilyFromSpec(
    const std::string& json, UnknownKeys unknown_keys = UnknownKeys::kError);

/// The names a spec's "family" may have.
MMCPP_EXPORT std::vector<std::string> FamilyNames();

}  // namespace mmcpp
