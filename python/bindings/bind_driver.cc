// process, process_items: requests through the driver.
#include <string>
#include <vector>

#include "families.h"

namespace mmcpp::bindings {
namespace {

/// The pictures of a request, borrowed from a Python sequence of bytes-like objects and arrays.
class BorrowedMedia {
 public:
  explicit BorrowedMedia(const py::sequence& media) {
    bytes_.reserve(media.size());
    images_.reserve(media.size());
    int index = 0;
    for (const py::handle item : media) {
      if (py::isinstance<py::array>(item)) {
        images_.emplace_back(item, index++);
        sources_.emplace_back(images_.back().view());
      } else {
        bytes_.emplace_back(item, index++);
        sources_.emplace_back(bytes_.back().bytes());
      }
    }
  }
  Span<const MediaSource> sources() const { return sources_; }

 private:
  std::vector<BorrowedBytes> bytes_;
  std::vector<BorrowedImage> images_;
  std::vector<MediaSource> sources_;
};

/// `request_limits` is None or (max_items, max_total_bytes, max_tokens).
ProcessOptions ToOptions(const std::string& dtype, const std::string& profile,
                         const py::object& decode_limits, const py::object& request_limits) {
  ProcessOptions options;
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
  for (NamedTensor& named : item.aux) aux[py::str(named.name)] = ToArray(std::move(named.tensor));
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

}  // namespace

void BindDriver(py::module_& m) {
  m.def(
      "process_items",
      [](const FamilyHolder& family, const py::sequence& media, const std::string& dtype,
         const std::string& profile, const py::object& decode_limits,
         const py::object& request_limits, const py::object& out) -> py::tuple {
        const BorrowedMedia borrowed(media);
        const ProcessOptions options = ToOptions(dtype, profile, decode_limits, request_limits);
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
      "(packed features, in `out` if that is not None, one dict per item).");
  m.def(
      "process",
      [](const FamilyHolder& family, const py::array_t<int64_t, py::array::c_style>& input_ids,
         const py::sequence& media, const std::string& dtype, const std::string& profile,
         const py::object& decode_limits, const py::object& request_limits) -> py::dict {
        const BorrowedMedia borrowed(media);
        Request request;
        request.input_ids = {input_ids.data(), static_cast<size_t>(input_ids.size())};
        request.media = borrowed.sources();
        request.options = ToOptions(dtype, profile, decode_limits, request_limits);
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
        result["layout_ms"] = response.layout_ms;
        result["positions_ms"] = response.positions_ms;
        return result;
      },
      py::arg("family"), py::arg("input_ids").noconvert(), py::arg("media"), py::arg("dtype"),
      py::arg("profile"), py::arg("decode_limits"), py::arg("request_limits"),
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
