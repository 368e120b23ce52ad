// The names of kernel tables, for everybody outside the layers that run them.
#include "base/ensure.h"
#include "mmcpp/build_info.h"
#include "simd/dispatch.h"

namespace mmcpp {

Result<std::string> ActiveIsa() {
  MMCPP_ASSIGN(const simd::Kernels* kernels, simd::ActiveKernels());
  return std::string(kernels->name);
}

std::vector<std::string> AvailableIsas() {
  std::vector<std::string> names;
  for (const simd::Kernels* kernels : simd::RunnableKernels()) names.emplace_back(kernels->name);
  return names;
}

}  // namespace mmcpp
