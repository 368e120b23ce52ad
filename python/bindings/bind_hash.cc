// content_hash, content_digest.
#include "bindings.h"

namespace mmcpp::bindings {

void BindHash(py::module_& m) {
  m.def(
      "content_hash",
      [](const py::object& data) -> uint64_t {
        const BorrowedBytes bytes(data);
        return CallNoGil([&] { return Result<uint64_t>(ContentHash(bytes.bytes())); });
      },
      py::arg("data"), "First 8 bytes of the BLAKE3 digest, big-endian.");
  m.def(
      "content_digest",
      [](const py::object& data) -> py::bytes {
        const BorrowedBytes bytes(data);
        using Digest = std::array<uint8_t, 32>;
        const Digest digest =
            CallNoGil([&] { return Result<Digest>(ContentDigest(bytes.bytes())); });
        return py::bytes(reinterpret_cast<const char*>(digest.data()), digest.size());
      },
      py::arg("data"), "The 32-byte BLAKE3 digest.");
}

}  // namespace mmcpp::bindings
