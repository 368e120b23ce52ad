// Family: what a spec says, without pixels.
#include <memory>
#include <string>
#include <vector>

#include "families.h"

namespace mmcpp::bindings {

namespace {

py::tuple ToTuple(const GridThw& grid) { return py::make_tuple(grid.t, grid.h, grid.w); }
py::tuple ToTuple(const TileGrid& grid) {
  return py::make_tuple(grid.count(), grid.rows, grid.columns);
}

}  // namespace

py::dict ToDict(const ItemPlan& plan) {
  py::dict result;
  result["feature_shape"] = py::tuple(py::cast(plan.feature_shape));
  result["grid"] =
      std::visit([](const auto& grid) -> py::tuple { return ToTuple(grid); }, plan.geometry);
  result["tokens"] = plan.tokens;
  result["resized_height"] = plan.resized_height;
  result["resized_width"] = plan.resized_width;
  return result;
}

py::object ToObject(Positions positions) {
  if (auto* mrope = std::get_if<MRope>(&positions)) {
    return py::make_tuple(ToArray(std::move(mrope->position_ids)), mrope->delta);
  }
  return py::none();
}

void BindFamilies(py::module_& m) {
  py::class_<FamilyHolder>(m, "Family")
      .def(py::init([](const std::string& json, bool ignore_unknown_keys) {
             const UnknownKeys unknown =
                 ignore_unknown_keys ? UnknownKeys::kIgnore : UnknownKeys::kError;
             return FamilyHolder{Unwrap(FamilyFromSpec(json, unknown))};
           }),
           py::arg("json"), py::arg("ignore_unknown_keys") = false)
      .def_property_readonly(
          "name", [](const FamilyHolder& self) { return std::string(self.family->name()); })
      .def_property_readonly(
          "feature_name",
          [](const FamilyHolder& self) { return std::string(self.family->feature_name()); })
      .def(
          "plan",
          [](const FamilyHolder& self, int height, int width) -> py::dict {
            return ToDict(Unwrap(self.family->PlanItem(height, width)));
          },
          py::arg("height"), py::arg("width"), "What a picture of this size becomes.");
  m.def("family_names", &FamilyNames, "The names that a spec's `family` may have.");
}

}  // namespace mmcpp::bindings
