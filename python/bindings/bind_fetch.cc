// fetch, fetch_all, check_fetch_policy.
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.h"
#include "mmcpp/fetch.h"

namespace mmcpp::bindings {
namespace {

std::vector<std::string> Strings(const py::handle& sequence) {
  std::vector<std::string> strings;
  for (const py::handle item : sequence) strings.push_back(item.cast<std::string>());
  return strings;
}

/// From the attributes of mmcpp.FetchPolicy, which has checked their types.
FetchPolicy ToPolicy(const py::object& from) {
  FetchPolicy policy;
  policy.schemes = Strings(from.attr("schemes"));
  const py::object hosts = from.attr("allowed_hosts");
  if (!hosts.is_none()) policy.allowed_hosts = Strings(hosts);
  policy.allowed_networks = Strings(from.attr("allowed_networks"));
  policy.file_roots = Strings(from.attr("file_roots"));
  policy.max_bytes = from.attr("max_bytes").cast<uint64_t>();
  policy.max_redirects = from.attr("max_redirects").cast<int>();
  const py::object timeout = from.attr("timeout");
  if (!timeout.is_none()) policy.timeout_s = timeout.cast<double>();
  policy.environment_proxies = from.attr("environment_proxies").cast<bool>();
  policy.url_safe_base64 = from.attr("url_safe_base64").cast<bool>();
  policy.ca_file = from.attr("ca_file").cast<std::string>();
  return policy;
}

py::bytes ToBytes(const Buffer& buffer) {
  return py::bytes(reinterpret_cast<const char*>(buffer.data()), buffer.size());
}

// Control-C while the network is waited for.
bool Interrupted() {
  const py::gil_scoped_acquire acquire;
  return PyErr_CheckSignals() != 0;
}

// Like Unwrap, but an interrupt's own exception goes before the error that it caused.
template <class T>
T UnwrapInterruptible(Result<T> result) {
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  return Unwrap(std::move(result));
}

py::bytes FetchOne(const py::str& source, const py::object& from) {
  const FetchPolicy policy = ToPolicy(from);
  const auto text = source.cast<std::string_view>();  // of the str's own UTF-8
  using Outcome = Result<Buffer>;
  // The error is not raised by CallNoGil: an interrupt has set its own.
  auto outcome = CallNoGil([&] { return Result<Outcome>(Fetch(text, policy, Interrupted)); });
  return ToBytes(UnwrapInterruptible(std::move(outcome)));
}

py::list FetchAll(const py::sequence& sources, const py::object& from, uint64_t max_total_bytes,
                  size_t max_concurrent) {
  FetchGroup::Options options;
  options.max_total_bytes = max_total_bytes;
  options.max_concurrent = max_concurrent;
  FetchGroup group = Unwrap(FetchGroup::Create(ToPolicy(from), options));
  for (const py::handle source : sources) group.Start(source.cast<std::string>());
  using Outcome = Result<std::vector<Buffer>>;
  auto outcome = CallNoGil([&] {
    while (!group.Poll(std::chrono::milliseconds(100))) {
      if (Interrupted()) group.Cancel();
    }
    return Result<Outcome>(group.Wait());
  });
  py::list all;
  for (const Buffer& buffer : UnwrapInterruptible(std::move(outcome))) all.append(ToBytes(buffer));
  return all;
}

}  // namespace

void BindFetch(py::module_& m) {
  m.def(
      "check_fetch_policy",
      [](const py::object& policy) { Unwrap(CheckFetchPolicy(ToPolicy(policy))); },
      py::arg("policy"), "Raises ValueError for a policy that cannot be meant.");
  m.def("fetch", &FetchOne, py::arg("source"), py::arg("policy"), "The bytes of a source.");
  m.def("fetch_all", &FetchAll, py::arg("sources"), py::arg("policy"), py::arg("max_total_bytes"),
        py::arg("max_concurrent"), "The bytes of several sources, fetched at the same time.");
}

}  // namespace mmcpp::bindings
