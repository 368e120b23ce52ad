// ItemCache and its sessions, with Python objects as values.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "mmcpp/cache.h"

namespace mmcpp::bindings {
namespace {

/// A Python object as a cache's value. Its last holder may be a thread without the GIL.
ItemCache::Value ToValue(py::object object) {
  PyObject* pointer = object.release().ptr();
  return {pointer, [](const void* held) {
            const py::gil_scoped_acquire gil;
            Py_DECREF(static_cast<PyObject*>(const_cast<void*>(held)));
          }};
}

py::object ToObject(const ItemCache::Value& value) {
  if (value == nullptr) return py::none();
  return py::reinterpret_borrow<py::object>(static_cast<PyObject*>(const_cast<void*>(value.get())));
}

const char* StateName(CacheState state) {
  switch (state) {
    case CacheState::kHit:
      return "hit";
    case CacheState::kOwned:
      return "owned";
    case CacheState::kPending:
      return "pending";
    case CacheState::kRepeated:
      return "repeated";
  }
  return "unknown";
}

/// [(key, content)].
std::vector<CacheKey> ToKeys(const py::list& keys) {
  std::vector<CacheKey> result;
  for (const auto& entry : keys) {
    const auto pair = entry.cast<py::tuple>();
    result.push_back({pair[0].cast<std::string>(), pair[1].cast<std::string>()});
  }
  return result;
}

py::dict ToDict(const CacheStats& stats) {
  py::dict result;
  result["hits"] = stats.hits;
  result["misses"] = stats.misses;
  result["shared"] = stats.shared;
  result["repeated"] = stats.repeated;
  result["stored"] = stats.stored;
  result["evicted"] = stats.evicted;
  result["not_stored"] = stats.not_stored;
  result["invalidated"] = stats.invalidated;
  result["hit_bytes"] = stats.hit_bytes;
  result["entries"] = stats.entries;
  result["bytes"] = stats.bytes;
  result["pinned_bytes"] = stats.pinned_bytes;
  return result;
}

size_t Checked(const CacheSession& session, size_t i) {
  if (i >= session.size()) throw py::index_error("cache: no item " + std::to_string(i));
  return i;
}

void BindSession(py::module_& m) {
  py::class_<CacheSession>(m, "CacheSession", "What a request holds of a cache until it is closed.")
      .def(
          "state",
          [](const CacheSession& session, size_t i) {
            return StateName(session.state(Checked(session, i)));
          },
          py::arg("i"))
      .def(
          "first",
          [](const CacheSession& session, size_t i) { return session.first(Checked(session, i)); },
          py::arg("i"))
      .def(
          "value",
          [](const CacheSession& session, size_t i) {
            return ToObject(session.value(Checked(session, i)));
          },
          py::arg("i"))
      .def(
          "publish",
          [](CacheSession& session, size_t i, py::object value, size_t bytes) {
            ItemCache::Value held = ToValue(std::move(value));
            (void)CallNoGil([&] { return session.Publish(i, std::move(held), bytes); });
          },
          py::arg("i"), py::arg("value"), py::arg("bytes"))
      .def(
          "wait",
          [](CacheSession& session, size_t i, double timeout_s) {
            // A month is for ever; steady_clock cannot add the largest numbers.
            const auto timeout = std::chrono::milliseconds(
                static_cast<int64_t>(std::min(std::max(timeout_s, 0.0), 2.6e6) * 1000));
            return StateName(CallNoGil([&] { return session.Wait(i, timeout); }));
          },
          py::arg("i"), py::arg("timeout_s"))
      .def("close",
           [](CacheSession& session) {
             (void)CallNoGil([&] {
               session.Close();
               return Status(Ok{});
             });
           })
      .def("__len__", [](const CacheSession& session) { return session.size(); });
}

}  // namespace

void BindCache(py::module_& m) {
  BindSession(m);
  py::class_<ItemCache>(m, "ItemCache", "Python objects by key, bounded in bytes.")
      .def(py::init([](size_t max_bytes, size_t max_entries) {
             return std::make_unique<ItemCache>(CacheOptions{max_bytes, max_entries});
           }),
           py::arg("max_bytes"), py::arg("max_entries"))
      .def(
          "open",
          [](ItemCache& cache, const py::list& keys) {
            const std::vector<CacheKey> wanted = ToKeys(keys);
            return CallNoGil([&] { return cache.Open(wanted); });
          },
          py::arg("keys"))
      .def("contains", &ItemCache::Contains, py::arg("key"))
      .def("touch", &ItemCache::Touch, py::arg("key"))
      .def("invalidate", &ItemCache::Invalidate, py::arg("key"))
      .def("clear", &ItemCache::Clear)
      .def("stats", [](const ItemCache& cache) { return ToDict(cache.Stats()); })
      .def("keys_by_age", [](const ItemCache& cache) {
        py::list keys;
        for (const std::string& key : cache.KeysByAge()) keys.append(key);
        return keys;
      });
}

}  // namespace mmcpp::bindings
