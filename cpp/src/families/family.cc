// What a family does unless it says otherwise.
#include "mmcpp/family.h"

namespace mmcpp {

bool Family::PadsFeatures() const noexcept { return false; }

Result<Positions> Family::ComputePositions(size_t /*length*/, Span<const TokenRange> /*offsets*/,
                                           Span<const ItemPlan> /*items*/) const {
  return Positions{Rope1D{}};
}

}  // namespace mmcpp
