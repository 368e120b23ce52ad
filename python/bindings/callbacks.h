// Calls from the core into Python. The package's mmcpp.family.outcome stands in between: it turns
// exceptions into values, so that none is on its way through the core.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "bindings.h"

namespace mmcpp::bindings {

inline ErrorCode CodeOf(const std::string& name) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::kCancelled); ++code) {
    if (name == ErrorCodeName(static_cast<ErrorCode>(code))) return static_cast<ErrorCode>(code);
  }
  return ErrorCode::kInternal;
}

/// use(value), where `callable(args...)` gave (None, value); or the error of ((code, message), _).
/// Takes the GIL for the call and for `use`, which returns a Result. What neither side expects,
/// such as a value of another type, is kInternal.
template <class Use, class... Args>
auto CallPython(const py::object& callable, const Use& use, const Args&... args)
    -> decltype(use(std::declval<py::object>())) {
  const py::gil_scoped_acquire acquire;
  try {
    const auto outcome = callable(args...).template cast<py::tuple>();
    const py::object failure = outcome[0];
    if (failure.is_none()) return use(py::object(outcome[1]));
    const auto error = failure.cast<py::tuple>();
    return Error{CodeOf(error[0].template cast<std::string>()),
                 error[1].template cast<std::string>()};
  } catch (const std::exception& error) {
    return Error{ErrorCode::kInternal, std::string("python: ") + error.what()};
  }
}

}  // namespace mmcpp::bindings
