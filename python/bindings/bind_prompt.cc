// mrope_positions.
#include <utility>
#include <vector>

#include "families.h"

namespace mmcpp::bindings {

void BindPrompt(py::module_& m) {
  m.def(
      "mrope_positions",
      [](size_t length, const std::vector<std::pair<uint32_t, uint32_t>>& offsets,
         const std::vector<Grid>& grids, uint32_t merge_size) -> py::tuple {
        std::vector<TokenRange> ranges;
        for (const auto& [first, last] : offsets) ranges.push_back({first, last});
        std::vector<GridThw> sizes;
        for (const auto& [t, h, w] : grids) sizes.push_back({t, h, w});
        MRope mrope = CallNoGil([&] { return MropePositions(length, ranges, sizes, merge_size); });
        return py::make_tuple(ToArray(std::move(mrope.position_ids)), mrope.delta);
      },
      py::arg("length"), py::arg("offsets"), py::arg("grids"), py::arg("merge_size"),
      "(int64 [3, length], delta).");
}

}  // namespace mmcpp::bindings
