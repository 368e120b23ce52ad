// Names of error codes.
#include "mmcpp/status.h"

namespace mmcpp {

const char* ErrorCodeName(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kCorruptInput:
      return "corrupt_input";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kLimitExceeded:
      return "limit_exceeded";
    case ErrorCode::kOutOfMemory:
      return "out_of_memory";
    case ErrorCode::kInternal:
      return "internal";
    case ErrorCode::kBadSource:
      return "bad_source";
    case ErrorCode::kFetchFailed:
      return "fetch_failed";
    case ErrorCode::kForbidden:
      return "forbidden";
    case ErrorCode::kDeadlineExceeded:
      return "deadline_exceeded";
    case ErrorCode::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

}  // namespace mmcpp
