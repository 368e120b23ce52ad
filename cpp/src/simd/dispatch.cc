// Detection and choice of the kernel table.
#include "simd/dispatch.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>

#include "base/ensure.h"

namespace mmcpp::simd {
namespace {

struct TableList {
  std::array<const Kernels*, 4> tables = {};
  size_t size = 0;
  void Add(const Kernels* kernels) { tables[size++] = kernels; }
};

TableList Detect() {
  TableList list;
  list.Add(&kScalarKernels);
#if MMCPP_SIMD && defined(__x86_64__)
  // These ask the operating system about the registers too.
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
      __builtin_cpu_supports("bmi2")) {
    list.Add(&kAvx2Kernels);
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni")) {
    list.Add(&kAvx512Kernels);
  }
#endif
#if MMCPP_SIMD && defined(__aarch64__)
  list.Add(&kNeonKernels);
#endif
  return list;
}

std::atomic<const Kernels*> override_kernels{nullptr};

}  // namespace

Span<const Kernels* const> RunnableKernels() {
  static const TableList kList = Detect();
  return {kList.tables.data(), kList.size};
}

Result<const Kernels*> ChooseKernels(const char* isa) {
  const auto runnable = RunnableKernels();
  if (isa == nullptr || *isa == '\0') return runnable[runnable.size() - 1];
  std::string names;
  for (const Kernels* kernels : runnable) {
    if (std::string(isa) == kernels->name) return kernels;
    names += std::string(names.empty() ? "" : ", ") + kernels->name;
  }
  return InvalidArgument("simd: MMCPP_ISA names \"" + std::string(isa) +
                         "\", which is not among those that can run here: " + names);
}

Result<const Kernels*> ActiveKernels() {
  if (const Kernels* kernels = override_kernels.load(std::memory_order_acquire)) return kernels;
  static const Result<const Kernels*> kChosen = ChooseKernels(std::getenv("MMCPP_ISA"));
  return kChosen;
}

bool MayUseBmi2() {
#if MMCPP_SIMD && defined(__x86_64__)
  static const bool kHas = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("bmi2") != 0;
  }();
  const Result<const Kernels*> kernels = ActiveKernels();
  return kHas && kernels.ok() && *kernels != &kScalarKernels;
#else
  return false;
#endif
}

void OverrideKernels(const Kernels* kernels) {
  override_kernels.store(kernels, std::memory_order_release);
}

}  // namespace mmcpp::simd
