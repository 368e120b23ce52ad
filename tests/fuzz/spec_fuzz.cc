// Any text as a spec: an error, or a family whose plans are sane.
#include <cstdlib>
#include <string>

#include "mmcpp/registry.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void CheckPlans(const mmcpp::Family& family) {
  const int sizes[][2] = {{1, 1},     {1, 5},       {37, 53},         {480, 640},
                          {9000, 45}, {65535, 700}, {100000, 100000}, {2147483647, 2147483647}};
  for (const auto& size : sizes) {
    const auto plan = family.PlanItem(size[0], size[1]);
    if (!plan.ok()) continue;
    Require(plan->resized_height > 0 && plan->resized_width > 0 && plan->tokens > 0);
    for (int64_t side : plan->feature_shape) Require(side > 0);
    Require(family.Aux(*plan).ok());
  }
  Require(!family.PlanItem(0, 1).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto unknown : {mmcpp::UnknownKeys::kError, mmcpp::UnknownKeys::kIgnore}) {
    const auto family = mmcpp::FamilyFromSpec(text, unknown);
    if (family.ok()) {
      CheckPlans(**family);
    } else {
      Require(!family.error().message.empty() && family.error().message.size() < 1000);
    }
  }
  return 0;
}
