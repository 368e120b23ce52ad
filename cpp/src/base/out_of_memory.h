// Turns an allocation failure into an Error at the borders that it must not cross: public entry
// points and bodies given to par.
#pragma once

#include <new>
#include <stdexcept>

#include "mmcpp/status.h"

namespace mmcpp {

/// fn(), a Result; kOutOfMemory if it ran out of memory.
template <class Fn>
auto CatchOutOfMemory(Fn&& fn) -> decltype(fn()) {
  // The message fits std::string's own storage: no allocation here.
  try {
    return fn();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kOutOfMemory, "out of memory"};
  } catch (const std::length_error&) {  // a container asked for more than any memory holds
    return Error{ErrorCode::kOutOfMemory, "out of memory"};
  }
}

}  // namespace mmcpp
