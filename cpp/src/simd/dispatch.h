// Which kernel table runs: detected once, or forced by the environment variable MMCPP_ISA.
#pragma once

#include "mmcpp/span.h"
#include "mmcpp/status.h"
#include "simd/kernels.h"

namespace mmcpp::simd {

/// The tables that this build has and this machine can run, best last; the first is scalar.
Span<const Kernels* const> RunnableKernels();

/// The table in use: the best runnable one, or the one that MMCPP_ISA names. kInvalidArgument, with
/// the names that would do, if MMCPP_ISA names no runnable table. The environment is read once.
Result<const Kernels*> ActiveKernels();

/// As ActiveKernels would decide for this value of MMCPP_ISA; null or empty stands for unset.
Result<const Kernels*> ChooseKernels(const char* isa);

/// Whether code outside the kernels may use BMI2's shifts: the machine has them, and the table in
/// use is not the scalar one.
bool MayUseBmi2();

/// For tests: makes `kernels` the table in use; null goes back to the choice above.
void OverrideKernels(const Kernels* kernels);

}  // namespace mmcpp::simd
