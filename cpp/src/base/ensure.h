// The library's only macros: early return on failure, and checks of what must hold if we made no
// mistake.
#pragma once

#include <string>
#include <utility>

#include "mmcpp/status.h"

/// Returns the error of a Result-valued expression, if it has one.
#define MMCPP_TRY(expression)                             \
  do {                                                    \
    if (auto mmcpp_try = (expression); !mmcpp_try.ok()) { \
      return std::move(mmcpp_try).error();                \
    }                                                     \
  } while (false)

/// Declares `declaration` with the value of a Result-valued expression, or returns its error.
#define MMCPP_ASSIGN(declaration, expression) \
  MMCPP_ASSIGN_IMPL(MMCPP_CONCAT(mmcpp_result_, __LINE__), declaration, expression)
#define MMCPP_ASSIGN_IMPL(result, declaration, expression) \
  auto result = (expression);                              \
  if (!result.ok()) return std::move(result).error();      \
  declaration = *std::move(result)
#define MMCPP_CONCAT(a, b) MMCPP_CONCAT_IMPL(a, b)
#define MMCPP_CONCAT_IMPL(a, b) a##b

/// An internal condition. Broken, it is kInternal for this request and not the end of the process.
#define MMCPP_ENSURE(condition)                                                               \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      return ::mmcpp::Error{::mmcpp::ErrorCode::kInternal,                                    \
                            std::string("internal: expected " #condition " in ") + __func__}; \
    }                                                                                         \
  } while (false)

namespace mmcpp {

/// An error with `context` and ": " before its message.
inline Error WithContext(Error error, const std::string& context) {
  error.message.insert(0, context + ": ");
  return error;
}

inline Error InvalidArgument(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}
inline Error CorruptInput(std::string message) {
  return {ErrorCode::kCorruptInput, std::move(message)};
}
inline Error Unsupported(std::string message) {
  return {ErrorCode::kUnsupported, std::move(message)};
}
inline Error LimitExceeded(std::string message) {
  return {ErrorCode::kLimitExceeded, std::move(message)};
}
inline Error BadSource(std::string message) { return {ErrorCode::kBadSource, std::move(message)}; }
inline Error FetchFailed(std::string message) {
  return {ErrorCode::kFetchFailed, std::move(message)};
}
inline Error Forbidden(std::string message) { return {ErrorCode::kForbidden, std::move(message)}; }

}  // namespace mmcpp
