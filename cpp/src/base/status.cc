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
  }
  return "unknown";
}

}  // namespace mmcpp
