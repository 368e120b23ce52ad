// What this build is made of, for logs and bug reports.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mmcpp/export.h"

namespace mmcpp {

struct BuildInfo {
  std::string version;                      ///< "0.1.0"
  std::string executor;                     ///< "inline", "tbb" or "chaos"
  std::string isa;                          ///< the kernel table in use, such as "scalar"
  std::vector<std::string> available_isas;  ///< tables that this machine can run, best last
  std::vector<std::pair<std::string, std::string>> codecs;  ///< library and version, as loaded
};

MMCPP_EXPORT BuildInfo GetBuildInfo();

}  // namespace mmcpp
