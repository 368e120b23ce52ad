// The extension module mmcpp._mmcpp: thin doors to the public C++ interface. Names, defaults and
// documentation for users are in the Python package around it.
#include "bindings.h"

// Free threading: families are immutable and the library has no mutable state but the kernel
// table, which is chosen once; a request touches only its own memory.
PYBIND11_MODULE(_mmcpp, m, pybind11::mod_gil_not_used()) {
  m.doc() = "Private: the C++ core of mmcpp. Use `import mmcpp`.";
  mmcpp::bindings::BindBuildInfo(m);
  mmcpp::bindings::BindHash(m);
  mmcpp::bindings::BindImage(m);
  mmcpp::bindings::BindFamilies(m);
  mmcpp::bindings::BindPrompt(m);
  mmcpp::bindings::BindPromptUpdate(m);
  mmcpp::bindings::BindCache(m);
  mmcpp::bindings::BindDriver(m);
  mmcpp::bindings::BindSource(m);
  mmcpp::bindings::BindFetch(m);
}
