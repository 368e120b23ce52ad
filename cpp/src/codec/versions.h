// Which codec libraries are in use.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mmcpp::codec {

/// Name and version of each codec library: of the one loaded where it tells, else of the headers
/// that this build was compiled with.
std::vector<std::pair<std::string, std::string>> LibraryVersions();

}  // namespace mmcpp::codec
