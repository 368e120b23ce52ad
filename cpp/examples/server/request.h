// What a client sends, as JSON or as the fields of a form, checked while it is read: hostile text
// costs an error, not memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mmcpp/driver.h"
#include "mmcpp/status.h"

namespace mmcpp::server {

struct WireRequest {
  std::vector<int64_t> input_ids;
  std::vector<std::string> images;  ///< source strings of JSON, encoded bytes of a form
  DType dtype = DType::kF32;
};

/// {"input_ids": [...], "images": ["https://...", "data:...", base64...], "dtype": "float32"}.
/// Unknown, repeated and missing keys are refused, as are numbers that are no int64.
Result<WireRequest> ParseJson(const std::string& body, const RequestLimits& limits);

/// One field of a form: "input_ids" (a JSON list), "dtype", or "image" (a file; one for each).
Status AddField(const std::string& name, std::string content, const RequestLimits& limits,
                WireRequest* request);

/// kInvalidArgument for an empty prompt or no picture.
Status CheckComplete(const WireRequest& request);

}  // namespace mmcpp::server
