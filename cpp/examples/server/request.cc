// JSON is read event by event: no tree, no nesting, and lists end at their limits.
#include "request.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace mmcpp::server {
namespace {

using nlohmann::json;

Error Bad(const std::string& what) { return {ErrorCode::kInvalidArgument, "request: " + what}; }

Error TooMany(const char* what, uint64_t limit) {
  return {ErrorCode::kLimitExceeded,
          std::string("request: more than ") + std::to_string(limit) + " " + what};
}

Status ReadDType(const std::string& name, DType* dtype) {
  for (const DType known : {DType::kF32, DType::kBf16, DType::kF16, DType::kU8}) {
    if (name != DTypeName(known)) continue;
    *dtype = known;
    return Ok{};
  }
  return Bad("dtype: expected float32, bfloat16, float16 or uint8");
}

class Reader : public nlohmann::json_sax<json> {
 public:
  explicit Reader(const RequestLimits& limits) : limits_(limits) {}

  Result<WireRequest> Take(bool parsed) {
    if (!status_.ok()) return status_.error();
    if (!parsed) return Bad("not JSON");
    return std::move(request_);
  }

  bool null() override { return Refuse(); }
  bool boolean(bool) override { return Refuse(); }
  bool number_float(number_float_t, const string_t&) override { return Refuse(); }
  bool binary(binary_t&) override { return Refuse(); }
  bool number_integer(number_integer_t value) override {
    if (!in_list_ || key_ != "input_ids") return Refuse();
    if (request_.input_ids.size() >= limits_.max_tokens) {
      return Fail(TooMany("input_ids", limits_.max_tokens));
    }
    request_.input_ids.push_back(value);
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return Refuse();
    return number_integer(static_cast<number_integer_t>(value));
  }
  bool string(string_t& value) override {
    if (in_list_ && key_ == "images") {
      if (request_.images.size() >= limits_.max_items) {
        return Fail(TooMany("images", limits_.max_items));
      }
      request_.images.push_back(std::move(value));
      return true;
    }
    if (in_list_ || key_ != "dtype") return Refuse();
    return Check(ReadDType(value, &request_.dtype));
  }
  bool start_object(size_t) override {
    if (in_object_) return Refuse();
    return in_object_ = true;
  }
  bool key(string_t& name) override {
    if (name != "input_ids" && name != "images" && name != "dtype") {
      return Fail(Bad("unknown key; there are input_ids, images and dtype"));
    }
    if (!seen_.insert(name).second) return Fail(Bad(name + " is given twice"));
    key_ = name;
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(size_t) override {
    if (in_list_ || (key_ != "input_ids" && key_ != "images")) return Refuse();
    return in_list_ = true;
  }
  bool end_array() override {
    in_list_ = false;
    return true;
  }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return Fail(Bad("not JSON, at byte " + std::to_string(position)));
  }

 private:
  bool Refuse() {
    if (key_.empty()) return Fail(Bad("expected an object"));
    return Fail(Bad(key_ + (key_ == "input_ids" ? ": expected a list of int64"
                            : key_ == "images"  ? ": expected a list of strings"
                                                : ": expected a string")));
  }
  bool Check(Status status) {
    if (!status.ok()) status_ = std::move(status);
    return status_.ok();
  }
  bool Fail(Error error) { return Check(std::move(error)); }

  const RequestLimits limits_;
  WireRequest request_;
  std::set<std::string> seen_;
  std::string key_;
  bool in_object_ = false, in_list_ = false;
  Status status_ = Ok{};
};

}  // namespace

Result<WireRequest> ParseJson(const std::string& body, const RequestLimits& limits) {
  Reader reader(limits);
  return reader.Take(json::sax_parse(body, &reader));
}

Status AddField(const std::string& name, std::string content, const RequestLimits& limits,
                WireRequest* request) {
  if (name == "image") {
    if (request->images.size() >= limits.max_items) return TooMany("images", limits.max_items);
    request->images.push_back(std::move(content));
    return Ok{};
  }
  if (name == "dtype") return ReadDType(content, &request->dtype);
  if (name != "input_ids") return Bad("unknown field; there are input_ids, image and dtype");
  if (!request->input_ids.empty()) return Bad("input_ids is given twice");
  auto parsed = ParseJson("{\"input_ids\": " + content + "}", limits);
  if (!parsed.ok()) return std::move(parsed).error();
  request->input_ids = std::move(parsed->input_ids);
  return Ok{};
}

Status CheckComplete(const WireRequest& request) {
  if (request.input_ids.empty()) return Bad("without input_ids");
  if (request.images.empty()) return Bad("without images");
  return Ok{};
}

}  // namespace mmcpp::server
