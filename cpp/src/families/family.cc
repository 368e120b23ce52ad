// What a family does unless it says otherwise.
#include "mmcpp/family.h"

#include "base/ensure.h"
#include "base/row_source.h"

namespace mmcpp {

size_t Family::PackAxis() const noexcept { return 0; }

bool Family::PadsFeatures() const noexcept { return false; }

bool Family::KeepsAlpha() const noexcept { return false; }

Span<const char* const> Family::JoinedAux() const noexcept { return {}; }

Span<const char* const> Family::OnesAux() const noexcept { return {}; }

Status Family::ProcessRows(RowSource* rows, const ItemPlan& plan, TensorView feature) const {
  if (const ImageView* whole = rows->whole()) return ProcessItem(*whole, plan, feature);
  MMCPP_ASSIGN(const Image image, ReadAll(rows));
  return ProcessItem(image, plan, feature);
}

Result<Positions> Family::ComputePositions(Span<const int64_t> /*input_ids*/,
                                           Span<const TokenRange> /*offsets*/,
                                           Span<const ItemPlan> /*items*/) const {
  return Positions{Rope1D{}};
}

}  // namespace mmcpp
