// decode_image, image_info, resize.
#include <string>

#include "bindings.h"

namespace mmcpp::bindings {

DecodeOptions ToDecodeOptions(const std::string& profile, const py::object& limits) {
  DecodeOptions options = Unwrap(DecodeProfile(profile));
  if (!limits.is_none()) {
    const auto values = limits.cast<py::tuple>();
    options.limits.max_encoded_bytes = values[0].cast<size_t>();
    options.limits.max_side = values[1].cast<int>();
    options.limits.max_pixels = values[2].cast<uint64_t>();
  }
  return options;
}

py::dict ToDict(const ImageInfo& info) {
  py::dict result;
  result["format"] = ImageFormatName(info.format);
  result["height"] = info.height;
  result["width"] = info.width;
  result["mode"] = info.mode;
  result["bit_depth"] = info.bit_depth;
  result["has_alpha"] = info.has_alpha;
  result["orientation"] = info.orientation;
  result["frames"] = info.frames;
  return result;
}

void BindImage(py::module_& m) {
  m.def(
      "decode_image",
      [](const py::object& data, const std::string& profile, const py::object& limits,
         const py::object& out) -> py::array {
        const BorrowedBytes bytes(data);
        const DecodeOptions options = ToDecodeOptions(profile, limits);
        BorrowedOutput output(out, py::dtype("uint8"));
        if (!output) return ToArray(CallNoGil([&] { return DecodeImage(bytes.bytes(), options); }));
        const ImageSpan span = output.image();
        CallNoGil([&] { return DecodeImageInto(bytes.bytes(), options, span); });
        return output.array();
      },
      py::arg("data"), py::arg("profile"), py::arg("limits"), py::arg("out") = py::none(),
      "uint8 [height, width, 3]; `out`, if that is not None.");
  m.def(
      "image_info",
      [](const py::object& data) -> py::dict {
        const BorrowedBytes bytes(data);
        return ToDict(CallNoGil([&] { return ReadImageInfo(bytes.bytes()); }));
      },
      py::arg("data"), "The fields of ImageInfo, from the header.");
  m.def(
      "resize",
      [](const py::object& image, int height, int width, const std::string& filter,
         const std::string& convention, const py::object& out) -> py::array {
        const BorrowedImage source(image);
        const Filter how = Unwrap(FilterFromName(filter));
        const Convention whose = Unwrap(ConventionFromName(convention));
        BorrowedOutput output(out, py::dtype("uint8"));
        if (!output) {
          return ToArray(
              CallNoGil([&] { return Resize(source.view(), height, width, how, whose); }));
        }
        const ImageSpan span = output.image();
        if (span.height != height || span.width != width) {
          throw py::value_error("out: expected shape (" + std::to_string(height) + ", " +
                                std::to_string(width) + ", 3), got " +
                                std::string(py::str(output.array().attr("shape"))));
        }
        CallNoGil([&] { return ResizeInto(source.view(), span, how, whose); });
        return output.array();
      },
      py::arg("image"), py::arg("height"), py::arg("width"), py::arg("filter"),
      py::arg("convention"), py::arg("out") = py::none(),
      "uint8 [height, width, 3]; `out`, if that is not None.");
  m.def(
      "default_decode_limits",
      []() -> py::tuple {
        const DecodeLimits limits;
        return py::make_tuple(limits.max_encoded_bytes, limits.max_side, limits.max_pixels);
      },
      "(max_encoded_bytes, max_side, max_pixels).");
}

}  // namespace mmcpp::bindings
