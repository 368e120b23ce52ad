// process, process_items: requests through the driver.
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "callbacks.h"
#include "families.h"

namespace mmcpp::bindings {
namespace {

/// The pictures of a request, borrowed from a Python sequence of bytes-like objects and arrays.
class BorrowedMedia {
 public:
  BorrowedMedia(const FamilyHolder& family, const py::sequence& media)
      : keeps_alpha_(family.family->KeepsAlpha()) {
    Reserve(media.size());
    int index = 0;
    for (const py::handle item : media) Borrow(item, index++);
  }
  /// An item that is of a right type but cannot be borrowed leaves its exception in `errors`, at
  /// its index, and stands for no bytes.
  BorrowedMedia(const FamilyHolder& family, const py::sequence& media,
                std::vector<py::object>* errors)
      : keeps_alpha_(family.family->KeepsAlpha()) {
    Reserve(media.size());
    errors->resize(media.size());
    for (size_t i = 0; i < media.size(); ++i) {
      try {
        Borrow(media[i], static_cast<int>(i));
      } catch (const py::error_already_set& error) {
        (*errors)[i] = error.value();
        sources_.emplace_back(Bytes());
      }
    }
  }
  Span<const MediaSource> sources() const { return sources_; }

 private:
  void Reserve(size_t count) {
    bytes_.reserve(count);
    images_.reserve(count);
  }
  void Borrow(const py::handle& item, int index) {
    if (py::isinstance<py::array>(item)) {
      images_.emplace_back(item, index, keeps_alpha_);
      sources_.emplace_back(images_.back().view());
    } else {
      bytes_.emplace_back(item, index);
      sources_.emplace_back(bytes_.back().bytes());
    }
  }

  bool keeps_alpha_;
  std::vector<BorrowedBytes> bytes_;
  std::vector<BorrowedImage> images_;
  std::vector<MediaSource> sources_;
};

/// Python's CancelFlag: set by any thread.
struct CancelFlag {
  std::atomic<bool> cancelled{false};
};

/// `request_limits` is None or (max_items, max_total_bytes, max_tokens); `stop` is None or (seconds
/// from now or None, CancelFlag or None), whose flag the caller keeps alive.
ProcessOptions ToOptions(const std::string& dtype, const std::string& profile,
                         const py::object& decode_limits, const py::object& request_limits,
                         const py::object& stop) {
  ProcessOptions options;
  if (!stop.is_none()) {
    const auto values = stop.cast<py::tuple>();
    if (!values[0].is_none()) {
      using Clock = std::chrono::steady_clock;
      const std::chrono::duration<double> seconds(values[0].cast<double>());
      options.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(seconds);
    }
    if (!values[1].is_none()) options.cancelled = &values[1].cast<const CancelFlag&>().cancelled;
  }
  options.dtype = FeatureType(dtype);
  options.decode = ToDecodeOptions(profile, decode_limits);
  if (!request_limits.is_none()) {
    const auto values = request_limits.cast<py::tuple>();
    options.limits.max_items = values[0].cast<size_t>();
    options.limits.max_total_bytes = values[1].cast<size_t>();
    options.limits.max_tokens = values[2].cast<uint64_t>();
  }
  return options;
}

/// The fields of mmcpp.Item; `feature` is None where features are packed.
py::dict ItemDict(OutputItem item, bool has_feature) {
  py::dict result;
  result["plan"] = ToDict(item.plan);
  result["feature"] = has_feature ? py::object(ToArray(std::move(item.feature))) : py::none();
  py::dict aux;
  for (NamedTensor& named : item.aux) {
    aux[py::str(named.name)] = ToArray(std::move(named.tensor));
  }
  result["aux"] = aux;
  result["content_hash"] = item.content_hash;
  result["info"] = item.encoded ? py::object(ToDict(item.info)) : py::none();
  result["times"] = py::make_tuple(item.times.hash_ms, item.times.decode_ms, item.times.process_ms);
  return result;
}

py::list ToList(std::vector<OutputItem> items, bool have_features) {
  py::list result;
  for (OutputItem& item : items) result.append(ItemDict(std::move(item), have_features));
  return result;
}

/// One dict or exception per item.
py::list ProcessEachItem(const FamilyHolder& family, const py::sequence& media,
                         const ProcessOptions& options) {
  std::vector<py::object> errors;
  const BorrowedMedia borrowed(family, media, &errors);
  auto results =
      CallNoGil([&] { return ProcessEach(*family.family, borrowed.sources(), options); });
  py::list list;
  for (size_t i = 0; i < results.size(); ++i) {
    if (errors[i]) {
      list.append(errors[i]);
    } else if (results[i].ok()) {
      list.append(ItemDict(*std::move(results[i]), true));
    } else {
      list.append(MakeException(results[i].error()));
    }
  }
  return list;
}

py::dict ToDict(const RequestCounters& counters) {
  py::dict result;
  result["items"] = counters.items;
  result["duplicates"] = counters.duplicates;
  result["bytes_in"] = counters.bytes_in;
  result["pixels"] = counters.pixels;
  result["bytes_out"] = counters.bytes_out;
  result["tokens_in"] = counters.tokens_in;
  result["tokens_out"] = counters.tokens_out;
  return result;
}

/// A callable that gives (None, array of ids) or ((code, message), None).
Tokenizer ToTokenizer(const py::object& callable) {
  return [&callable](std::string_view text) {
    const auto use = [](const py::object& value) -> Result<std::vector<int64_t>> {
      const auto ids = value.cast<py::array_t<int64_t, py::array::c_style>>();
      return std::vector<int64_t>(ids.data(), ids.data() + ids.size());
    };
    return CallPython(callable, use, text);
  };
}

}  // namespace

void BindDriver(py::module_& m) {
  py::class_<CancelFlag>(m, "CancelFlag", "Ends the calls that look at it.")
      .def(py::init<>())
      .def(
          "cancel", [](CancelFlag& self) { self.cancelled = true; }, "Sets it, for good.")
      .def_property_readonly("cancelled",
                             [](const CancelFlag& self) { return self.cancelled.load(); });
  m.def(
      "process_each",
      [](const FamilyHolder& family, const py::sequence& media, const std::string& dtype,
         const std::string& profile, const py::object& decode_limits,
         const py::object& request_limits, const py::object& stop) {
        return ProcessEachItem(family, media,
                               ToOptions(dtype, profile, decode_limits, request_limits, stop));
      },
      py::arg("family"), py::arg("media"), py::arg("dtype"), py::arg("profile"),
      py::arg("decode_limits"), py::arg("request_limits"), py::arg("stop") = py::none(),
      "One dict, or exception, per item.");
  m.def(
      "process_items",
      [](const FamilyHolder& family, const py::sequence& media, const std::string& dtype,
         const std::string& profile, const py::object& decode_limits,
         const py::object& request_limits, const py::object& out,
         const py::object& stop) -> py::tuple {
        const BorrowedMedia borrowed(family, media);
        const ProcessOptions options =
            ToOptions(dtype, profile, decode_limits, request_limits, stop);
        if (!out.is_none()) {
          BorrowedOutput output(out, NumpyType(options.dtype));
          const TensorView view = {output.data(), options.dtype, output.shape()};
          std::vector<OutputItem> items = CallNoGil(
              [&] { return ProcessItemsInto(*family.family, borrowed.sources(), options, view); });
          return py::make_tuple(output.array(), ToList(std::move(items), false));
        }
        ItemBatch batch =
            CallNoGil([&] { return ProcessItems(*family.family, borrowed.sources(), options); });
        return py::make_tuple(ToArray(std::move(batch.features)),
                              ToList(std::move(batch.items), false));
      },
      py::arg("family"), py::arg("media"), py::arg("dtype"), py::arg("profile"),
      py::arg("decode_limits"), py::arg("request_limits"), py::arg("out") = py::none(),
      py::arg("stop") = py::none(),
      "(packed features, in `out` if that is not None, one dict per item).");
  m.def(
      "process",
      [](const FamilyHolder& family, const py::array_t<int64_t, py::array::c_style>& input_ids,
         const py::sequence& media, const std::string& dtype, const std::string& profile,
         const py::object& decode_limits, const py::object& request_limits, const py::object& stop,
         const std::string& text, const py::object& tokenizer) -> py::dict {
        const BorrowedMedia borrowed(family, media);
        Request request;
        request.input_ids = {input_ids.data(), static_cast<size_t>(input_ids.size())};
        request.media = borrowed.sources();
        request.options = ToOptions(dtype, profile, decode_limits, request_limits, stop);
        if (!tokenizer.is_none()) {
          request.text = text;
          request.tokenizer = ToTokenizer(tokenizer);
        }
        Response response = CallNoGil([&] { return Process(*family.family, request); });
        py::list offsets;
        for (const TokenRange& range : response.offsets) {
          offsets.append(py::make_tuple(range.first, range.last));
        }
        py::dict result;
        result["input_ids"] = ToArray(std::move(response.input_ids));
        result["items"] = ToList(std::move(response.items), true);
        result["offsets"] = offsets;
        result["positions"] = ToObject(std::move(response.positions));
        result["counters"] = ToDict(response.counters);
        result["tokenize_ms"] = response.tokenize_ms;
        result["layout_ms"] = response.layout_ms;
        result["positions_ms"] = response.positions_ms;
        return result;
      },
      py::arg("family"), py::arg("input_ids").noconvert(), py::arg("media"), py::arg("dtype"),
      py::arg("profile"), py::arg("decode_limits"), py::arg("request_limits"),
      py::arg("stop") = py::none(), py::arg("text") = "", py::arg("tokenizer") = py::none(),
      "The fields of the response.");
  m.def(
      "default_request_limits",
      []() -> py::tuple {
        const RequestLimits limits;
        return py::make_tuple(limits.max_items, limits.max_total_bytes, limits.max_tokens);
      },
      "(max_items, max_total_bytes, max_tokens).");
}

}  // namespace mmcpp::bindings
