// What this build is made of.
#include "mmcpp/build_info.h"

#include <utility>

#include "codec/versions.h"
#include "mmcpp/version.h"
#include "par/par.h"

namespace mmcpp {

BuildInfo GetBuildInfo() {
  BuildInfo info;
  info.version = std::to_string(MMCPP_VERSION_MAJOR) + "." + std::to_string(MMCPP_VERSION_MINOR) +
                 "." + std::to_string(MMCPP_VERSION_PATCH);
  info.executor = par::ExecutorName();
  if (auto isa = ActiveIsa(); isa.ok()) info.isa = *std::move(isa);
  info.available_isas = AvailableIsas();
  info.codecs = codec::LibraryVersions();
  return info;
}

}  // namespace mmcpp
