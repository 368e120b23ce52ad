// base64_decode_strict.
#include <cstdint>
#include <string_view>

#include "bindings.h"
#include "mmcpp/source.h"

namespace mmcpp::bindings {

void BindSource(py::module_& m) {
  m.def(
      "base64_decode_strict",
      [](const py::str& text) -> py::bytes {
        const auto view = text.cast<std::string_view>();  // of the str's own UTF-8
        const Buffer decoded = CallNoGil([&] { return DecodeBase64Strict(view, SIZE_MAX); });
        return py::bytes(reinterpret_cast<const char*>(decoded.data()), decoded.size());
      },
      py::arg("text"), "Bytes of canonical base64, as the reference crate takes it.");
}

}  // namespace mmcpp::bindings
