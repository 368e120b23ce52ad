// Reading specs. The text is walked once for its shape (syntax, depth, keys given twice), which the
// parser alone would not tell, and then parsed.
#include "families/spec.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/ensure.h"

namespace mmcpp::families {
namespace {

using nlohmann::json;

std::string Shown(const json& value) {
  if (value.is_array()) return "an array of " + std::to_string(value.size());
  if (value.is_object()) return "an object";
  if (value.is_string()) return "the string " + Quoted(value.get_ref<const std::string&>());
  return value.dump();
}

/// What is wrong with a text before its values matter.
class ShapeChecker final : public nlohmann::json_sax<json> {
 public:
  const std::optional<Error>& error() const { return error_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return Open(); }
  bool end_object() override { return Close(); }
  bool start_array(size_t) override { return Open(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    error_ = InvalidArgument("spec: duplicate field " + Quoted(name));
    return false;
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    error_ = InvalidArgument("spec: not valid JSON at byte " + std::to_string(position));
    return false;
  }

 private:
  bool Open() {
    keys_.emplace_back();
    if (keys_.size() <= SpecReader::kMaxDepth) return true;
    error_ = Error{ErrorCode::kLimitExceeded,
                   "spec: nested deeper than " + std::to_string(SpecReader::kMaxDepth) + " levels"};
    return false;
  }
  bool Close() {
    keys_.pop_back();
    return true;
  }

  std::vector<std::set<std::string>> keys_;  // of every open object; arrays have none
  std::optional<Error> error_;
};

/// Levenshtein's distance; the lengths are those of keys.
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string Nearest(const std::string& key, const std::vector<std::string>& known) {
  const std::string start = key.substr(0, 64);  // a key may be as long as the text
  return *std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return EditDistance(start, a) < EditDistance(start, b);
  });
}

}  // namespace

std::string Quoted(const std::string& text) {
  constexpr size_t kShown = 64;
  std::string shown = text.substr(0, kShown);
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return "`" + shown + (text.size() > kShown ? "...`" : "`");
}

Result<SpecReader> SpecReader::Parse(const std::string& text, UnknownKeys unknown_keys) {
  if (text.size() > kMaxBytes) {
    return Error{ErrorCode::kLimitExceeded, "spec: " + std::to_string(text.size()) +
                                                " bytes, the limit is " +
                                                std::to_string(kMaxBytes)};
  }
  // The parser would take it for the end of the text and leave the rest unread.
  const size_t nul = text.find('\0');
  if (nul != std::string::npos) {
    return InvalidArgument("spec: not valid JSON at byte " + std::to_string(nul + 1));
  }
  ShapeChecker checker;
  const bool complete = json::sax_parse(text, &checker);
  if (checker.error()) return *checker.error();
  MMCPP_ENSURE(complete);

  SpecReader reader;
  reader.unknown_keys_ = unknown_keys;
  reader.object_ = std::make_shared<const json>(json::parse(text, nullptr, false));
  if (!reader.object_->is_object()) {
    return InvalidArgument("spec: expected a JSON object, got " + Shown(*reader.object_));
  }
  const auto family = reader.object_->find("family");
  if (family == reader.object_->end()) return InvalidArgument("spec: missing field `family`");
  if (!family->is_string()) {
    return InvalidArgument("spec: family: expected a string, got " + Shown(*family));
  }
  reader.family_ = family->get<std::string>();
  return reader;
}

Error SpecReader::MakeError(const std::string& what) const {
  return InvalidArgument(family_ + " spec: " + what);
}

void SpecReader::Fail(const std::string& what) {
  if (!error_) error_ = MakeError(what);
}

const json* SpecReader::Find(const char* key, bool required) {
  known_keys_.emplace_back(key);
  const auto found = object_->find(key);
  if (found != object_->end()) return &*found;
  if (required) Fail("missing field `" + std::string(key) + "`");
  return nullptr;
}

int64_t SpecReader::IntValue(const std::string& name, const json& value, int64_t min, int64_t max) {
  // An integer above int64 is unsigned to the parser; as int64 it would wrap.
  const bool fits =
      value.is_number_integer() &&
      (!value.is_number_unsigned() || value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX));
  const int64_t number = fits ? value.get<int64_t>() : 0;
  if (fits && number >= min && number <= max) return number;
  Fail(name + ": expected an integer from " + std::to_string(min) + " to " + std::to_string(max) +
       ", got " + Shown(value));
  return min;
}

int64_t SpecReader::Int(const char* key, int64_t min, int64_t max) {
  const json* value = Find(key, true);
  return value == nullptr ? min : IntValue(key, *value, min, max);
}

int64_t SpecReader::IntOr(const char* key, int64_t min, int64_t max, int64_t fallback) {
  const json* value = Find(key, false);
  return value == nullptr ? fallback : IntValue(key, *value, min, max);
}

std::vector<int64_t> SpecReader::Ints(const char* key) {
  std::vector<int64_t> numbers;
  const json* value = Find(key, false);
  if (value == nullptr) return numbers;
  if (!value->is_array() || value->size() > kMaxInts) {
    Fail(std::string(key) + ": expected an array of at most " + std::to_string(kMaxInts) +
         " integers, got " + Shown(*value));
    return numbers;
  }
  for (const json& entry : *value) numbers.push_back(IntValue(key, entry, INT64_MIN, INT64_MAX));
  return numbers;
}

std::vector<std::pair<int64_t, int64_t>> SpecReader::Pairs(const char* key) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  const json* value = Find(key, false);
  if (value == nullptr) return pairs;
  bool fits = value->is_array() && value->size() <= kMaxInts;
  for (size_t i = 0; fits && i < value->size(); ++i) {
    const json& pair = (*value)[i];
    fits = pair.is_array() && pair.size() == 2;
    if (fits) {
      pairs.emplace_back(IntValue(key, pair[0], INT64_MIN, INT64_MAX),
                         IntValue(key, pair[1], INT64_MIN, INT64_MAX));
    }
  }
  if (!fits) {
    Fail(std::string(key) + ": expected an array of at most " + std::to_string(kMaxInts) +
         " pairs of integers, got " + Shown(*value));
  }
  return pairs;
}

bool SpecReader::BoolOr(const char* key, bool fallback) {
  const json* value = Find(key, false);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  Fail(std::string(key) + ": expected true or false, got " + Shown(*value));
  return fallback;
}

uint64_t SpecReader::UIntValue(const char* key, const json& value, uint64_t min, uint64_t max) {
  const bool fits = value.is_number_unsigned();
  const uint64_t number = fits ? value.get<uint64_t>() : 0;
  if (fits && number >= min && number <= max) return number;
  Fail(std::string(key) + ": expected an integer from " + std::to_string(min) + " to " +
       std::to_string(max) + ", got " + Shown(value));
  return min;
}

uint64_t SpecReader::UInt(const char* key, uint64_t min, uint64_t max) {
  const json* value = Find(key, true);
  return value == nullptr ? min : UIntValue(key, *value, min, max);
}

uint64_t SpecReader::UIntOr(const char* key, uint64_t min, uint64_t max, uint64_t fallback) {
  const json* value = Find(key, false);
  return value == nullptr ? fallback : UIntValue(key, *value, min, max);
}

int SpecReader::Size(const char* key, int max) {
  const auto found = object_->find(key);
  if (found != object_->end() && *found == json(0u)) {
    Fail("sizes must be positive, got " + std::string(key) + " 0");
  }
  return static_cast<int>(UInt(key, 1, static_cast<uint64_t>(max)));
}

std::array<float, 3> SpecReader::Channels(const char* key) {
  std::array<float, 3> channels;
  const std::array<double, 3> numbers = DoubleChannels(key);
  for (size_t i = 0; i < channels.size(); ++i) channels[i] = static_cast<float>(numbers[i]);
  return channels;
}

std::array<double, 3> SpecReader::DoubleChannels(const char* key) {
  std::array<double, 3> channels = {1, 1, 1};
  const json* value = Find(key, true);
  if (value == nullptr) return channels;
  if (!value->is_array() || value->size() != channels.size()) {
    Fail(std::string(key) + ": expected an array of 3 numbers, got " + Shown(*value));
    return channels;
  }
  for (size_t i = 0; i < channels.size(); ++i) {
    const json& entry = (*value)[i];
    const double number = entry.is_number() ? entry.get<double>() : NAN;
    // A double beyond float's range has no defined conversion.
    const bool fits = std::fabs(number) <= static_cast<double>(std::numeric_limits<float>::max());
    if (!fits) {
      Fail(std::string(key) + ": expected a number within float32, got " + Shown(entry));
      continue;
    }
    channels[i] = number;
  }
  return channels;
}

std::optional<double> SpecReader::NumberIfAny(const char* key) {
  const json* value = Find(key, false);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return value->get<double>();
  Fail(std::string(key) + ": expected a number, got " + Shown(*value));
  return std::nullopt;
}

std::optional<size_t> SpecReader::Choice(const char* key, const std::vector<const char*>& names) {
  const json* value = Find(key, false);
  if (value == nullptr) return std::nullopt;
  std::string expected;
  for (size_t i = 0; i < names.size(); ++i) {
    if (value->is_string() && value->get_ref<const std::string&>() == names[i]) return i;
    expected += (i == 0                  ? "`"
                 : i + 1 == names.size() ? " or `"
                                         : ", `") +
                std::string(names[i]) + "`";
  }
  Fail(std::string(key) + ": unknown variant " +
       (value->is_string() ? Quoted(value->get_ref<const std::string&>()) : Shown(*value)) +
       ", expected " + expected);
  return std::nullopt;
}

Status SpecReader::Finish() const {
  if (unknown_keys_ == UnknownKeys::kError) {
    for (const auto& [key, value] : object_->items()) {
      if (std::find(known_keys_.begin(), known_keys_.end(), key) != known_keys_.end()) continue;
      return MakeError("unknown field " + Quoted(key) + "; did you mean `" +
                       Nearest(key, known_keys_) + "`?");
    }
  }
  if (error_) return *error_;
  return Ok{};
}

}  // namespace mmcpp::families
