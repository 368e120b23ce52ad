// build_info and free_waiting_buffers.
#include "bindings.h"

namespace mmcpp::bindings {

void BindBuildInfo(py::module_& m) {
  m.def(
      "build_info",
      []() -> py::dict {
        const BuildInfo info = GetBuildInfo();
        py::list available;
        for (const std::string& isa : info.available_isas) available.append(isa);
        py::dict codecs;
        for (const auto& [name, version] : info.codecs) codecs[py::str(name)] = version;
        py::dict result;
        result["version"] = info.version;
        result["executor"] = info.executor;
        result["isa"] = info.isa;
        result["available_isas"] = available;
        result["codecs"] = codecs;
        return result;
      },
      "What this build is made of.");
  m.def("free_waiting_buffers", &FreeWaitingBuffers,
        "Frees the memory that waits for its next use; how many bytes it was.");
}

}  // namespace mmcpp::bindings
