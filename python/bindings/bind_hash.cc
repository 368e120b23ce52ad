// content_hash, content_digest.
#include <array>
#include <vector>

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
  m.def(
      "content_digest_of_parts",
      [](const py::list& parts) -> py::bytes {
        std::vector<BorrowedBytes> borrowed;
        std::vector<Bytes> bytes;
        borrowed.reserve(parts.size());
        for (const auto& part : parts) {
          borrowed.emplace_back(part);
          bytes.push_back(borrowed.back().bytes());
        }
        using Digest = std::array<uint8_t, 32>;
        const Digest digest =
            CallNoGil([&] { return Result<Digest>(ContentDigest(Span<const Bytes>(bytes))); });
        return py::bytes(reinterpret_cast<const char*>(digest.data()), digest.size());
      },
      py::arg("parts"), "The 32-byte BLAKE3 digest of the parts one after the other.");
}

}  // namespace mmcpp::bindings
