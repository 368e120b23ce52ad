// Family: what a spec says, without pixels.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "families.h"

namespace mmcpp::bindings {

namespace {

py::tuple ToTuple(const GridThw& grid) { return py::make_tuple(grid.t, grid.h, grid.w); }
py::tuple ToTuple(const TileGrid& grid) {
  return py::make_tuple(grid.count(), grid.rows, grid.columns);
}

std::vector<std::string> ToNames(Span<const char* const> names) {
  return {names.begin(), names.end()};
}

Result<Tensor> Feature(const Family& family, const ImageView& image, DType dtype) {
  auto plan = family.PlanItem(image.height, image.width);
  if (!plan.ok()) return std::move(plan).error();
  auto feature = Tensor::Allocate(dtype, plan->feature_shape);
  if (!feature.ok()) return feature;
  Status status = family.ProcessItem(image, *plan, feature->view());
  if (!status.ok()) return std::move(status).error();
  return feature;
}

}  // namespace

DType FeatureType(const std::string& name) {
  for (const DType dtype : {DType::kF32, DType::kBf16, DType::kF16, DType::kU8}) {
    if (name == DTypeName(dtype)) return dtype;
  }
  throw py::value_error("dtype: expected float32, bfloat16, float16 or uint8, got \"" + name +
                        "\"");
}

py::dict ToDict(const ItemPlan& plan) {
  py::dict result;
  result["feature_shape"] = py::tuple(py::cast(plan.feature_shape));
  result["grid"] =
      std::visit([](const auto& grid) -> py::tuple { return ToTuple(grid); }, plan.geometry);
  result["tokens"] = plan.tokens;
  result["resized_height"] = plan.resized_height;
  result["resized_width"] = plan.resized_width;
  py::list parts;
  for (const FeaturePart& part : plan.feature_parts) {
    parts.append(py::make_tuple(part.name, py::tuple(py::cast(part.shape))));
  }
  result["feature_parts"] = py::tuple(parts);
  return result;
}

py::object ToObject(Positions positions) {
  if (auto* mrope = std::get_if<MRope>(&positions)) {
    return py::make_tuple(ToArray(std::move(mrope->position_ids)), mrope->delta);
  }
  return py::none();
}

void BindFamilies(py::module_& m) {
  py::class_<FamilyHolder>(m, "Family", "A family of a spec, or of methods in Python.")
      .def(py::init([](const std::string& json, bool ignore_unknown_keys) {
             const UnknownKeys unknown =
                 ignore_unknown_keys ? UnknownKeys::kIgnore : UnknownKeys::kError;
             return FamilyHolder{Unwrap(FamilyFromSpec(json, unknown))};
           }),
           py::arg("json"), py::arg("ignore_unknown_keys") = false)
      .def_static(
          "from_methods",
          [](const py::object& methods) { return FamilyHolder{MakePythonFamily(methods)}; },
          py::arg("methods"), "A family that Python code is.")
      .def_property_readonly(
          "name", [](const FamilyHolder& self) { return std::string(self.family->name()); })
      .def_property_readonly(
          "feature_name",
          [](const FamilyHolder& self) { return std::string(self.family->feature_name()); })
      .def_property_readonly("pack_axis",
                             [](const FamilyHolder& self) { return self.family->PackAxis(); })
      .def_property_readonly("keeps_alpha",
                             [](const FamilyHolder& self) { return self.family->KeepsAlpha(); })
      .def_property_readonly(
          "joined_aux", [](const FamilyHolder& self) { return ToNames(self.family->JoinedAux()); })
      .def_property_readonly(
          "ones_aux", [](const FamilyHolder& self) { return ToNames(self.family->OnesAux()); })
      .def(
          "plan",
          [](const FamilyHolder& self, int height, int width) -> py::dict {
            return ToDict(Unwrap(self.family->PlanItem(height, width)));
          },
          py::arg("height"), py::arg("width"), "What a picture of this size becomes.")
      .def(
          "feature",
          [](const FamilyHolder& self, const py::object& image, const std::string& dtype) {
            const BorrowedImage source(image, -1, self.family->KeepsAlpha());
            const DType type = FeatureType(dtype);
            return ToArray(CallNoGil([&] { return Feature(*self.family, source.view(), type); }));
          },
          py::arg("image"), py::arg("dtype"),
          "The feature of a uint8 [height, width, 3] array, or of one of four channels if the "
          "family "
          "keeps alpha, without a hash or limits.");
  m.def("family_names", &FamilyNames, "The names that a spec's `family` may have.");
}

}  // namespace mmcpp::bindings
