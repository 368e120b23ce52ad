// What every binding file shares: the one place where the GIL is released and errors become
// exceptions, buffers borrowed from Python, and arrays handed to Python without a copy.
#pragma once

#include <pybind11/pybind11.h>
// pybind11 first: Python.h asks for it.
#include <pybind11/numpy.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "mmcpp/mmcpp.h"

namespace mmcpp::bindings {

namespace py = pybind11;

/// Raises the Python exception of `error`, with the attributes `code` and `item`. Needs the GIL.
[[noreturn]] void RaiseError(const Error& error);
/// That exception, not raised.
py::object MakeException(const Error& error);

/// The value of a Result, or its Python exception.
template <class T>
T Unwrap(Result<T> result) {
  if (!result.ok()) RaiseError(result.error());
  return *std::move(result);
}

/// Runs `function`, which returns a Result, without the GIL; gives its value or raises. The only
/// place that releases the GIL.
template <class Function>
auto CallNoGil(Function&& function) {
  auto result = [&] {
    py::gil_scoped_release release;
    return function();
  }();
  return Unwrap(std::move(result));
}

/// Any object of the buffer protocol, borrowed as contiguous bytes. The export is held for this
/// object's life, so the memory stays where it is while the GIL is released; to write to a
/// bytearray meanwhile is a race of the caller's. `item` is the object's index in a request, which
/// errors then name; -1 if there is none.
class BorrowedBytes {
 public:
  explicit BorrowedBytes(const py::handle& object, int item = -1);
  ~BorrowedBytes() {
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
  }
  BorrowedBytes(BorrowedBytes&& other) noexcept : view_(other.view_) { other.view_.obj = nullptr; }
  BorrowedBytes(const BorrowedBytes&) = delete;
  BorrowedBytes& operator=(const BorrowedBytes&) = delete;
  BorrowedBytes& operator=(BorrowedBytes&&) = delete;

  Bytes bytes() const {
    return {static_cast<const uint8_t*>(view_.buf), static_cast<size_t>(view_.len)};
  }

 private:
  Py_buffer view_ = {};
};

/// A uint8 [height, width, 3] array, or [height, width, 4] where alpha is kept, borrowed. TypeError
/// for anything else than a uint8 array, ValueError for another shape, an empty picture or memory
/// that is not in C order. `item` as above.
class BorrowedImage {
 public:
  explicit BorrowedImage(const py::handle& object, int item = -1, bool keeps_alpha = false);
  ImageView view() const { return view_; }

 private:
  py::array array_;  // keeps the memory alive
  ImageView view_;
};

/// The caller's array for a result, or None. TypeError for another object or dtype, ValueError for
/// an array that is read-only or not in C order.
class BorrowedOutput {
 public:
  BorrowedOutput(const py::handle& object, const py::dtype& dtype);
  explicit operator bool() const { return array_.has_value(); }
  void* data() { return array_->mutable_data(); }
  Span<const int64_t> shape() const { return shape_; }
  const py::array& array() const { return *array_; }
  /// Of a uint8 array [height, width, 3]; ValueError for another shape.
  ImageSpan image();

 private:
  std::optional<py::array> array_;
  std::vector<int64_t> shape_;
};

/// numpy's name of a feature's element type; uint16 for bfloat16.
py::dtype NumpyType(DType dtype);

/// An array that owns `buffer`; no copy.
py::array ToArray(Buffer buffer, const py::dtype& dtype, const std::vector<int64_t>& shape);
/// uint8 [height, width, 3].
py::array ToArray(Image image);
/// A tensor's shape and element type; bfloat16 as uint16 bits, which numpy has no type for.
py::array ToArray(Tensor tensor);
/// int64 [n].
py::array ToArray(std::vector<int64_t> values);

py::dict ToDict(const ImageInfo& info);

/// `limits` is None or (max_encoded_bytes, max_side, max_pixels).
DecodeOptions ToDecodeOptions(const std::string& profile, const py::object& limits);

void BindBuildInfo(py::module_& m);
void BindHash(py::module_& m);
void BindImage(py::module_& m);
void BindFamilies(py::module_& m);
void BindPrompt(py::module_& m);
void BindPromptUpdate(py::module_& m);
void BindCache(py::module_& m);
void BindDriver(py::module_& m);
void BindSource(py::module_& m);
void BindFetch(py::module_& m);

}  // namespace mmcpp::bindings
