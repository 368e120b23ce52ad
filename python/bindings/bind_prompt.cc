// mrope_positions, video_mrope_positions, xdrope_positions and plan_request.
#include <tuple>
#include <utility>
#include <vector>

#include "families.h"

namespace mmcpp::bindings {

namespace {

using Offsets = std::vector<std::pair<uint32_t, uint32_t>>;

std::vector<TokenRange> ToRanges(const Offsets& offsets) {
  std::vector<TokenRange> ranges;
  for (const auto& [first, last] : offsets) ranges.push_back({first, last});
  return ranges;
}

std::vector<GridThw> ToGrids(const std::vector<Grid>& grids) {
  std::vector<GridThw> sizes;
  for (const auto& [t, h, w] : grids) sizes.push_back({t, h, w});
  return sizes;
}

using VideoItem = std::tuple<uint32_t, uint32_t, Grid, uint32_t, float>;

std::vector<MropeItem> ToMropeItems(const std::vector<VideoItem>& items) {
  std::vector<MropeItem> result;
  for (const auto& [first, last, grid, temporal_merge, time_step] : items) {
    const auto [t, h, w] = grid;
    result.push_back({{first, last}, {t, h, w}, temporal_merge, time_step});
  }
  return result;
}

py::dict RequestDict(PlannedRequest planned) {
  py::list items, offsets;
  for (const ItemPlan& plan : planned.items) items.append(ToDict(plan));
  for (const TokenRange& range : planned.offsets) {
    offsets.append(py::make_tuple(range.first, range.last));
  }
  py::dict result;
  result["input_ids"] = ToArray(std::move(planned.input_ids));
  result["items"] = items;
  result["offsets"] = offsets;
  result["positions"] = ToObject(std::move(planned.positions));
  return result;
}

}  // namespace

void BindPrompt(py::module_& m) {
  m.def(
      "mrope_positions",
      [](size_t length, const Offsets& offsets, const std::vector<Grid>& grids,
         uint32_t merge_size) -> py::tuple {
        const auto ranges = ToRanges(offsets);
        const auto sizes = ToGrids(grids);
        MRope mrope = CallNoGil([&] { return MropePositions(length, ranges, sizes, merge_size); });
        return py::make_tuple(ToArray(std::move(mrope.position_ids)), mrope.delta);
      },
      py::arg("length"), py::arg("offsets"), py::arg("grids"), py::arg("merge_size"),
      "(int64 [3, length], delta).");
  m.def(
      "video_mrope_positions",
      [](size_t length, const std::vector<VideoItem>& items, uint32_t merge_size) -> py::tuple {
        const auto mrope_items = ToMropeItems(items);
        MRope mrope =
            CallNoGil([&] { return VideoMropePositions(length, mrope_items, merge_size); });
        return py::make_tuple(ToArray(std::move(mrope.position_ids)), mrope.delta);
      },
      py::arg("length"), py::arg("items"), py::arg("merge_size"),
      "(int64 [3, length], delta); an item is (first, last, grid, temporal_merge, time_step).");
  m.def(
      "xdrope_positions",
      [](size_t length, const Offsets& offsets, const std::vector<Grid>& grids, uint32_t merge_size,
         uint32_t axes) -> py::tuple {
        const auto ranges = ToRanges(offsets);
        const auto sizes = ToGrids(grids);
        MRope rope =
            CallNoGil([&] { return XdropePositions(length, ranges, sizes, merge_size, axes); });
        return py::make_tuple(ToArray(std::move(rope.position_ids)), rope.delta);
      },
      py::arg("length"), py::arg("offsets"), py::arg("grids"), py::arg("merge_size"),
      py::arg("axes"), "(int64 [axes, length], delta).");
  m.def(
      "plan_request",
      [](const FamilyHolder& family, const py::array_t<int64_t, py::array::c_style>& input_ids,
         const std::vector<std::pair<int, int>>& sizes, size_t max_items,
         uint64_t max_tokens) -> py::dict {
        std::vector<PictureSize> pictures;
        for (const auto& [height, width] : sizes) pictures.push_back({height, width});
        const Span<const int64_t> ids = {input_ids.data(), static_cast<size_t>(input_ids.size())};
        RequestLimits limits;
        limits.max_items = max_items;
        limits.max_tokens = max_tokens;
        return RequestDict(
            CallNoGil([&] { return PlanRequest(*family.family, ids, pictures, limits); }));
      },
      py::arg("family"), py::arg("input_ids").noconvert(), py::arg("sizes"), py::arg("max_items"),
      py::arg("max_tokens"), "The fields of the planned request.");
}

}  // namespace mmcpp::bindings
