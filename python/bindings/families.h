// What the bindings of families and of the driver share.
#pragma once

#include "bindings.h"
// Keep this order: bindings.h brings Python.h.
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <tuple>

namespace mmcpp::bindings {

/// Python's Family: owns one, immutable, used from any thread.
struct FamilyHolder {
  std::unique_ptr<const Family> family;
};

using Grid = std::tuple<uint32_t, uint32_t, uint32_t>;

/// ValueError for a name that no feature has.
DType FeatureType(const std::string& name);

/// A family whose methods are those of a mmcpp.family.Methods.
std::unique_ptr<const Family> MakePythonFamily(const py::object& methods);

py::dict ToDict(const ItemPlan& plan);
py::object ToObject(Positions positions);

}  // namespace mmcpp::bindings
