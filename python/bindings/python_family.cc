// A family whose methods are Python's. They get copies of the pixels and of the feature's memory,
// so that what they keep of their arguments is theirs.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "callbacks.h"
#include "families.h"

namespace mmcpp::bindings {
namespace {

Result<Tensor> ToTensor(const py::array& array) {
  const std::string name = py::str(static_cast<py::object>(array.dtype()));
  for (const DType dtype :
       {DType::kU8, DType::kI32, DType::kI64, DType::kF32, DType::kF16, DType::kBool}) {
    if (name != DTypeName(dtype)) continue;
    auto tensor =
        Tensor::Allocate(dtype, std::vector<int64_t>(array.shape(), array.shape() + array.ndim()));
    if (tensor.ok() && tensor->byte_count() > 0) {
      std::memcpy(tensor->data(), array.data(), tensor->byte_count());
    }
    return tensor;
  }
  return Error{ErrorCode::kInternal, "python: a tensor of dtype " + name};
}

py::array_t<uint8_t> CopyPixels(const ImageView& image) {
  py::array_t<uint8_t> array(
      {py::ssize_t{image.height}, py::ssize_t{image.width}, py::ssize_t{image.channels}});
  const size_t row_bytes = static_cast<size_t>(image.width) * static_cast<size_t>(image.channels);
  for (int y = 0; y < image.height; ++y) {
    std::memcpy(array.mutable_data() + static_cast<size_t>(y) * row_bytes, image.row(y), row_bytes);
  }
  return array;
}

py::list ToList(Span<const ItemPlan> items) {
  py::list plans;
  for (const ItemPlan& item : items) plans.append(ToDict(item));
  return plans;
}

/// (item, ids, content_begin, content_end, source_tokens), or (item, id, count, source_tokens), or
/// (begin, end) of text.
Segment ToSegment(const py::tuple& from) {
  if (from.size() == 2) return TextRange{from[0].cast<size_t>(), from[1].cast<size_t>()};
  MediaSegment segment;
  segment.item = from[0].cast<size_t>();
  segment.source_tokens = from[from.size() - 1].cast<size_t>();
  if (from.size() == 4) {
    segment.pattern = RepeatPattern{from[1].cast<int64_t>(), from[2].cast<uint64_t>()};
  } else {
    segment.pattern = ExplicitPattern{from[1].cast<std::vector<int64_t>>(), from[2].cast<size_t>(),
                                      from[3].cast<size_t>()};
  }
  return segment;
}

class PythonFamily final : public Family {
 public:
  /// `methods` is a mmcpp.family.Methods. Needs the GIL.
  explicit PythonFamily(const py::object& methods)
      : name_(methods.attr("name").cast<std::string>()),
        feature_name_(methods.attr("feature_name").cast<std::string>()),
        pads_(methods.attr("pads_features").cast<bool>()),
        keeps_alpha_(methods.attr("keeps_alpha").cast<bool>()),
        plan_(methods.attr("plan")),
        process_(methods.attr("process")),
        aux_(methods.attr("aux")),
        layout_(methods.attr("layout")),
        positions_(methods.attr("positions")) {}

  ~PythonFamily() override {
    const py::gil_scoped_acquire acquire;
    for (py::object* method : {&plan_, &process_, &aux_, &layout_, &positions_}) {
      *method = py::object();
    }
  }

  const char* name() const noexcept override { return name_.c_str(); }
  const char* feature_name() const noexcept override { return feature_name_.c_str(); }
  bool PadsFeatures() const noexcept override { return pads_; }
  bool KeepsAlpha() const noexcept override { return keeps_alpha_; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    return CallPython(
        plan_,
        [](const py::object& value) -> Result<ItemPlan> {
          const auto from = value.cast<py::tuple>();
          const auto [t, h, w] = from[1].cast<Grid>();
          ItemPlan plan;
          plan.feature_shape = from[0].cast<std::vector<int64_t>>();
          plan.geometry = GridThw{t, h, w};
          plan.tokens = from[2].cast<uint64_t>();
          plan.resized_height = from[3].cast<int>();
          plan.resized_width = from[4].cast<int>();
          return plan;
        },
        height, width);
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    const py::gil_scoped_acquire acquire;
    size_t bytes = DTypeSize(feature.dtype);
    for (const int64_t side : feature.shape) bytes *= static_cast<size_t>(side);
    try {
      py::array out(NumpyType(feature.dtype),
                    std::vector<py::ssize_t>(feature.shape.begin(), feature.shape.end()));
      std::memset(out.mutable_data(), 0, bytes);
      const auto keep = [&](const py::object&) -> Status {
        std::memcpy(feature.data, out.data(), bytes);
        return Ok{};
      };
      return CallPython(process_, keep, CopyPixels(image), ToDict(plan), out);
    } catch (const py::error_already_set& error) {  // of numpy, for want of memory
      return Error{ErrorCode::kOutOfMemory, std::string("python: ") + error.what()};
    }
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    const auto use = [](const py::object& value) -> Result<std::vector<NamedTensor>> {
      std::vector<NamedTensor> tensors;
      for (const auto& [name, array] : value.cast<py::dict>()) {
        auto tensor = ToTensor(py::reinterpret_borrow<py::array>(array));
        if (!tensor.ok()) return std::move(tensor).error();
        tensors.push_back({name.cast<std::string>(), *std::move(tensor)});
      }
      return tensors;
    };
    const py::gil_scoped_acquire acquire;
    return CallPython(aux_, use, ToDict(plan));
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    const auto use = [](const py::object& value) -> Result<TokenLayout> {
      TokenLayout layout;
      for (const py::handle segment : value) {
        layout.segments.push_back(ToSegment(segment.cast<py::tuple>()));
      }
      return layout;
    };
    const py::gil_scoped_acquire acquire;
    return CallPython(layout_, use,
                      ToArray(std::vector<int64_t>(input_ids.begin(), input_ids.end())),
                      ToList(items));
  }

  Result<Positions> ComputePositions(Span<const int64_t> input_ids, Span<const TokenRange> offsets,
                                     Span<const ItemPlan> items) const override {
    const auto use = [](const py::object& value) -> Result<Positions> {
      if (value.is_none()) return Positions{Rope1D{}};
      const auto pair = value.cast<py::tuple>();
      auto ids = ToTensor(pair[0].cast<py::array>());
      if (!ids.ok()) return std::move(ids).error();
      return Positions{MRope{*std::move(ids), pair[1].cast<int64_t>()}};
    };
    const py::gil_scoped_acquire acquire;
    py::list ranges;
    for (const TokenRange& range : offsets) ranges.append(py::make_tuple(range.first, range.last));
    return CallPython(positions_, use, input_ids.size(), ranges, ToList(items));
  }

 private:
  std::string name_, feature_name_;
  bool pads_, keeps_alpha_;
  py::object plan_, process_, aux_, layout_, positions_;
};

}  // namespace

std::unique_ptr<const Family> MakePythonFamily(const py::object& methods) {
  return std::make_unique<PythonFamily>(methods);
}

}  // namespace mmcpp::bindings
