// How the library reports failure: a value or an Error, never an exception on purpose.
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "mmcpp/export.h"

namespace mmcpp {

enum class ErrorCode : uint8_t {
  kInvalidArgument,   ///< the caller broke the contract (HTTP 400, ValueError)
  kCorruptInput,      ///< the bytes are not a valid picture (400, mmcpp.DecodeError)
  kUnsupported,       ///< valid, but out of scope (415, mmcpp.UnsupportedError)
  kLimitExceeded,     ///< a limit said no (413, mmcpp.LimitError)
  kOutOfMemory,       ///< allocation failed (503, MemoryError)
  kInternal,          ///< a bug of this library (500, RuntimeError)
  kBadSource,         ///< not a URL, data: URL or base64 that can be read (400, mmcpp.FetchError)
  kFetchFailed,       ///< network, file or remote status (400, mmcpp.FetchError)
  kForbidden,         ///< the fetch policy says no (422, mmcpp.FetchError)
  kDeadlineExceeded,  ///< not done in time (503, mmcpp.DeadlineError)
  kCancelled,         ///< the caller's flag was set (503, mmcpp.CancelledError)
};

/// "invalid_argument", "corrupt_input", ...: stable names for logs, metrics and Python's `.code`.
MMCPP_EXPORT const char* ErrorCodeName(ErrorCode code) noexcept;

/// Why a call failed. Branch on `code`, never on `message`.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  ///< "stage: what, with numbers"; lower case, no full stop
  int item = -1;        ///< index of the media item at fault; -1 when no single item is
};

/// Thrown by Result::value() on an error: the caller's bug, which ends a request and not the
/// process.
class BadResultAccess : public std::logic_error {
 public:
  explicit BadResultAccess(const std::string& message) : std::logic_error(message) {}
};

/// A value or an Error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  /// The value; throws BadResultAccess if this holds an error.
  T& value() & {
    Check();
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    Check();
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    Check();
    return std::move(*std::get_if<0>(&state_));
  }

  /// The value, unchecked; only after ok() was seen to be true.
  T& operator*() & noexcept { return *std::get_if<0>(&state_); }
  const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
  T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() noexcept { return std::get_if<0>(&state_); }
  const T* operator->() const noexcept { return std::get_if<0>(&state_); }

  /// The error, unchecked; only after ok() was seen to be false.
  Error& error() & noexcept { return *std::get_if<1>(&state_); }
  const Error& error() const& noexcept { return *std::get_if<1>(&state_); }
  Error&& error() && noexcept { return std::move(*std::get_if<1>(&state_)); }

 private:
  void Check() const {
    if (!ok()) throw BadResultAccess(std::get_if<1>(&state_)->message);
  }
  std::variant<T, Error> state_;
};

/// The value of a Status that succeeded.
struct Ok {};
using Status = Result<Ok>;

}  // namespace mmcpp
