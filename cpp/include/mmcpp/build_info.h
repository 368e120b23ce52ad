// What this build is made of, for logs and bug reports.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mmcpp/export.h"
#include "mmcpp/status.h"

namespace mmcpp {

struct BuildInfo {
  std::string version;   ///< "0.1.0"
  std::string executor;  ///< "inline", "tbb" or "chaos"
  std::string isa;       ///< the kernel table in use, such as "scalar"; empty if MMCPP_ISA asks for
                         ///< one that cannot run
  std::vector<std::string> available_isas;  ///< tables that this machine can run, best last
  std::vector<std::pair<std::string, std::string>> codecs;  ///< library and version, as loaded
};

MMCPP_EXPORT BuildInfo GetBuildInfo();

/// The name of the kernel table in use. kInvalidArgument, with the names that would do, if the
/// environment variable MMCPP_ISA names none that this machine can run; families are then refused
/// with the same error.
MMCPP_EXPORT Result<std::string> ActiveIsa();

/// The kernel tables that this build has and this machine can run, best last.
MMCPP_EXPORT std::vector<std::string> AvailableIsas();

}  // namespace mmcpp
