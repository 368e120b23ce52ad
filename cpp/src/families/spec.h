// Reads a family's spec: a JSON object whose keys are checked for presence, type and range. JSON
// stays behind this header; nothing is thrown.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mmcpp/registry.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Text of a spec as an error message may show it: in backticks, short and printable.
std::string Quoted(const std::string& text);

/// A family reads every key that it knows, then asks Finish once; a read that failed gives some
/// value of its range, so that a family's code need not branch. Messages are headed "NAME spec: ".
class SpecReader {
 public:
  static constexpr size_t kMaxBytes = size_t{1} << 20;
  static constexpr size_t kMaxDepth = 16;
  static constexpr size_t kMaxInts = 4096;

  /// Parses a JSON object and its key "family".
  /// Errors: kInvalidArgument (no object, a key given twice, no family), kLimitExceeded (size,
  /// depth).
  static Result<SpecReader> Parse(const std::string& text, UnknownKeys unknown_keys);

  const std::string& family() const { return family_; }
  /// Whether values that the reference crate lets pass, but that no checkpoint can mean, are
  /// errors.
  bool strict() const { return unknown_keys_ == UnknownKeys::kError; }

  int64_t Int(const char* key, int64_t min, int64_t max);
  int64_t IntOr(const char* key, int64_t min, int64_t max, int64_t fallback);
  uint64_t UInt(const char* key, uint64_t min, uint64_t max);
  uint64_t UIntOr(const char* key, uint64_t min, uint64_t max, uint64_t fallback);
  bool BoolOr(const char* key, bool fallback);
  /// An array of at most kMaxInts integers; empty when the key is absent.
  std::vector<int64_t> Ints(const char* key);
  /// An array of at most kMaxInts pairs of integers; empty when the key is absent.
  std::vector<std::pair<int64_t, int64_t>> Pairs(const char* key);
  /// A size or count: as UInt from 1, with the reference crate's words for 0.
  int Size(const char* key, int max);
  /// Three numbers, one per channel, each read as double and rounded to float; finite.
  std::array<float, 3> Channels(const char* key);
  /// The same without the rounding.
  std::array<double, 3> DoubleChannels(const char* key);

  /// A number; none when the key is absent.
  std::optional<double> NumberIfAny(const char* key);

  /// One of `names`; `fallback` when the key is absent.
  template <class Enum>
  Enum EnumOr(const char* key, std::initializer_list<std::pair<const char*, Enum>> names,
              Enum fallback) {
    std::vector<const char*> texts;
    for (const auto& name : names) texts.push_back(name.first);
    const std::optional<size_t> choice = Choice(key, texts);
    return choice ? names.begin()[*choice].second : fallback;
  }

  /// Notes an error of the family's own, such as keys that contradict each other.
  void Fail(const std::string& what);

  /// The first thing that was wrong; an unknown key comes before all else, because a misspelt key
  /// is also a missing one.
  Status Finish() const;

 private:
  SpecReader() = default;
  const nlohmann::json* Find(const char* key, bool required);
  int64_t IntValue(const std::string& name, const nlohmann::json& value, int64_t min, int64_t max);
  uint64_t UIntValue(const char* key, const nlohmann::json& value, uint64_t min, uint64_t max);
  std::optional<size_t> Choice(const char* key, const std::vector<const char*>& names);
  Error MakeError(const std::string& what) const;

  std::shared_ptr<const nlohmann::json> object_;
  std::string family_;
  UnknownKeys unknown_keys_ = UnknownKeys::kError;
  std::vector<std::string> known_keys_ = {"family"};
  std::optional<Error> error_;
};

}  // namespace mmcpp::families
