// The shared half of the bindings: exceptions, borrowed arguments, arrays without a copy.
#include "bindings.h"

#include <cstring>
#include <memory>
#include <string>

namespace mmcpp::bindings {
namespace {

py::object ExceptionType(ErrorCode code) {
  const auto named = [](const char* name) {
    return py::module_::import("mmcpp.errors").attr(name).cast<py::object>();
  };
  const auto builtin = [](PyObject* type) { return py::reinterpret_borrow<py::object>(type); };
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return builtin(PyExc_ValueError);
    case ErrorCode::kCorruptInput:
      return named("DecodeError");
    case ErrorCode::kUnsupported:
      return named("UnsupportedError");
    case ErrorCode::kLimitExceeded:
      return named("LimitError");
    case ErrorCode::kBadSource:
    case ErrorCode::kFetchFailed:
    case ErrorCode::kForbidden:
      return named("FetchError");
    case ErrorCode::kDeadlineExceeded:
      return named("DeadlineError");
    case ErrorCode::kCancelled:
      return named("CancelledError");
    case ErrorCode::kOutOfMemory:
      return builtin(PyExc_MemoryError);
    case ErrorCode::kInternal:
      break;
  }
  return builtin(PyExc_RuntimeError);
}

/// An array over `data`, which `owner` keeps alive.
template <class Owner>
py::array Adopt(std::unique_ptr<Owner> owner, const void* data, const py::dtype& dtype,
                const std::vector<int64_t>& shape) {
  py::capsule base(owner.get(), [](void* pointer) { delete static_cast<Owner*>(pointer); });
  owner.release();  // NOLINT(bugprone-unused-return-value): the capsule has it now
  return py::array(dtype, std::vector<py::ssize_t>(shape.begin(), shape.end()), data, base);
}

std::string OfItem(int item) {
  return item < 0 ? std::string() : "image " + std::to_string(item) + ": ";
}

[[noreturn]] void RaiseTypeError(int item, const std::string& what) {
  throw py::type_error(OfItem(item) + what);
}

[[noreturn]] void RaiseValueError(int item, const std::string& what) {
  RaiseError({ErrorCode::kInvalidArgument, OfItem(item) + what, item});
}

std::string TypeName(const py::handle& object) { return Py_TYPE(object.ptr())->tp_name; }

}  // namespace

py::object MakeException(const Error& error) {
  py::object exception = ExceptionType(error.code)(error.message);
  exception.attr("code") = ErrorCodeName(error.code);
  exception.attr("item") =
      error.item < 0 ? py::object(py::none()) : py::object(py::int_(error.item));
  return exception;
}

void RaiseError(const Error& error) {
  const py::object exception = MakeException(error);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw py::error_already_set();
}

namespace {

/// Whether the memory of a buffer consists of references to Python objects, at least in part.
bool HoldsObjects(const py::handle& buffer) {
  if (PyBytes_Check(buffer.ptr()) != 0) return false;
  if (py::isinstance<py::array>(buffer)) {  // numpy cannot say the format of all of its types
    return buffer.attr("dtype").attr("hasobject").cast<bool>();
  }
  Py_buffer view;
  if (PyObject_GetBuffer(buffer.ptr(), &view, PyBUF_FULL_RO) != 0) {
    PyErr_Clear();
    return false;
  }
  const bool found = view.format != nullptr && std::strchr(view.format, 'O') != nullptr;
  PyBuffer_Release(&view);
  return found;
}

}  // namespace

BorrowedBytes::BorrowedBytes(const py::handle& object, int item) {
  if (!PyObject_CheckBuffer(object.ptr())) {
    RaiseTypeError(item, "expected a bytes-like object, got " + TypeName(object));
  }
  if (HoldsObjects(object)) {
    RaiseTypeError(item, "expected bytes, got a " + TypeName(object) +
                             " of Python objects, whose memory holds addresses");
  }
  if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) == 0) return;
  py::error_already_set error;
  if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_BufferError)) throw error;
  RaiseValueError(item, "the bytes of a " + TypeName(object) + " cannot be read in place (" +
                            std::string(py::str(error.value())) + "); pass bytes(...) of it");
}

BorrowedImage::BorrowedImage(const py::handle& object, int item, bool keeps_alpha) {
  const std::string expected =
      std::string("expected a uint8 array [height, width, ") + (keeps_alpha ? "3 or 4]" : "3]");
  if (!py::isinstance<py::array>(object)) {
    RaiseTypeError(item, expected + ", got " + TypeName(object));
  }
  array_ = py::reinterpret_borrow<py::array>(object);
  const std::string dtype = py::str(static_cast<py::object>(array_.dtype()));
  if (dtype != "uint8") RaiseTypeError(item, expected + ", got dtype " + dtype);
  const std::string shape = py::str(array_.attr("shape"));
  const bool has_alpha = keeps_alpha && array_.ndim() == 3 && array_.shape(2) == 4;
  if (!has_alpha && (array_.ndim() != 3 || array_.shape(2) != 3)) {
    RaiseValueError(item, expected + ", got shape " + shape);
  }
  constexpr py::ssize_t kMaxSide = INT32_MAX;
  if (array_.size() == 0 || array_.shape(0) > kMaxSide || array_.shape(1) > kMaxSide) {
    RaiseValueError(item, "image: sides must be 1 to 2147483647, got shape " + shape);
  }
  if ((array_.flags() & py::array::c_style) == 0) {
    RaiseValueError(item,
                    "the array is not C-contiguous (a slice, a transpose or Fortran order); pass "
                    "numpy.ascontiguousarray(...) of it");
  }
  view_ = {static_cast<const uint8_t*>(array_.data()), static_cast<int>(array_.shape(0)),
           static_cast<int>(array_.shape(1)),
           static_cast<size_t>(array_.shape(1)) * static_cast<size_t>(array_.shape(2)),
           static_cast<int>(array_.shape(2))};
}

py::dtype NumpyType(DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return py::dtype("uint8");
    case DType::kI32:
      return py::dtype("int32");
    case DType::kI64:
      return py::dtype("int64");
    case DType::kF32:
      return py::dtype("float32");
    case DType::kF16:
      return py::dtype("float16");
    case DType::kBf16:
      return py::dtype("uint16");
    case DType::kBool:
      break;
  }
  return py::dtype("bool");
}

BorrowedOutput::BorrowedOutput(const py::handle& object, const py::dtype& dtype) {
  if (object.is_none()) return;
  const std::string wanted = py::str(static_cast<const py::object&>(dtype));
  if (!py::isinstance<py::array>(object)) {
    throw py::type_error("out: expected a " + wanted + " array, got " +
                         std::string(Py_TYPE(object.ptr())->tp_name));
  }
  py::array array = py::reinterpret_borrow<py::array>(object);
  if (!array.dtype().equal(dtype)) {
    throw py::type_error("out: expected a " + wanted + " array, got dtype " +
                         std::string(py::str(static_cast<py::object>(array.dtype()))));
  }
  if (!array.writeable()) throw py::value_error("out: the array is read-only");
  if ((array.flags() & py::array::c_style) == 0) {
    throw py::value_error("out: the array is not C-contiguous");
  }
  shape_.assign(array.shape(), array.shape() + array.ndim());
  array_ = std::move(array);
}

ImageSpan BorrowedOutput::image() {
  constexpr int64_t kMaxSide = INT32_MAX;
  if (shape_.size() != 3 || shape_[2] != 3 || shape_[0] > kMaxSide || shape_[1] > kMaxSide) {
    throw py::value_error("out: expected shape [height, width, 3], got " +
                          std::string(py::str(array_->attr("shape"))));
  }
  return {static_cast<uint8_t*>(data()), static_cast<int>(shape_[0]), static_cast<int>(shape_[1]),
          static_cast<size_t>(shape_[1]) * 3};
}

py::array ToArray(Buffer buffer, const py::dtype& dtype, const std::vector<int64_t>& shape) {
  auto owner = std::make_unique<Buffer>(std::move(buffer));
  const void* data = owner->data();
  return Adopt(std::move(owner), data, dtype, shape);
}

py::array ToArray(Image image) {
  const std::vector<int64_t> shape = {image.height(), image.width(), 3};
  return ToArray(std::move(image).Release(), py::dtype("uint8"), shape);
}

py::array ToArray(Tensor tensor) {
  const py::dtype dtype = NumpyType(tensor.dtype());
  const std::vector<int64_t> shape = tensor.shape();
  return ToArray(std::move(tensor).Release(), dtype, shape);
}

py::array ToArray(std::vector<int64_t> values) {
  auto owner = std::make_unique<std::vector<int64_t>>(std::move(values));
  const void* data = owner->data();
  const std::vector<int64_t> shape = {static_cast<int64_t>(owner->size())};
  return Adopt(std::move(owner), data, py::dtype("int64"), shape);
}

}  // namespace mmcpp::bindings
