// families/spec.cc: types, ranges, presence, misspelt and doubled keys, hostile texts.
#include "families/spec.h"

#include <gtest/gtest.h>

#include <clocale>
#include <string>

namespace mmcpp::families {
namespace {

// Reads the keys of a small family and gives what Finish says.
struct Read {
  int64_t id = 0;
  uint64_t area = 0, generation = 0;
  int size = 0, mode = 0;
  std::array<float, 3> mean = {};
  std::string error;  // "" when all is well
  ErrorCode code = ErrorCode::kInternal;
};

Read ReadSpec(const std::string& text, UnknownKeys unknown_keys = UnknownKeys::kError) {
  Read read;
  auto spec = SpecReader::Parse(text, unknown_keys);
  if (!spec.ok()) {
    read.error = spec.error().message;
    read.code = spec.error().code;
    return read;
  }
  read.id = spec->Int("image_token_id", INT64_MIN, INT64_MAX);
  read.area = spec->UInt("max_pixels", 0, UINT64_MAX);
  read.size = spec->Size("patch_size", 100);
  read.generation = spec->UIntOr("generation", 12, 13, 13);
  read.mean = spec->Channels("mean");
  read.mode = spec->EnumOr<int>("mode", {{"one", 1}, {"two", 2}, {"three", 3}}, 1);
  if (const Status status = spec->Finish(); !status.ok()) {
    read.error = status.error().message;
    read.code = status.error().code;
  }
  return read;
}

// A right spec in which `key` has another value, or is left out if `value` is empty.
std::string With(const std::string& key, const std::string& value) {
  std::string text = R"({"family": "f")";
  const std::pair<const char*, const char*> fields[] = {{"image_token_id", "7"},
                                                        {"max_pixels", "100"},
                                                        {"patch_size", "14"},
                                                        {"mean", "[0.5, 1, 2]"}};
  bool known = false;
  for (const auto& [name, right] : fields) {
    known |= key == name;
    if (key == name && value.empty()) continue;
    text += ", \"" + std::string(name) + "\": " + (key == name ? value : right);
  }
  if (!known && !key.empty()) text += ", \"" + key + "\": " + value;
  return text + "}";
}

void ExpectError(const std::string& text, const std::string& message,
                 ErrorCode code = ErrorCode::kInvalidArgument) {
  const Read read = ReadSpec(text);
  EXPECT_EQ(read.error, message) << text;
  EXPECT_EQ(read.code, code) << text;
}

TEST(SpecReader, ReadsValuesAndDefaults) {
  const Read read = ReadSpec(With("", ""));
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.id, 7);
  EXPECT_EQ(read.area, 100u);
  EXPECT_EQ(read.size, 14);
  EXPECT_EQ(read.generation, 13u);
  EXPECT_EQ(read.mean, (std::array<float, 3>{0.5f, 1.0f, 2.0f}));
  EXPECT_EQ(read.mode, 1);
  EXPECT_EQ(ReadSpec(With("mode", "\"three\"")).mode, 3);
  EXPECT_EQ(ReadSpec(With("generation", "12")).generation, 12u);
  EXPECT_EQ(ReadSpec(With("image_token_id", "-9223372036854775808")).id, INT64_MIN);
  EXPECT_EQ(ReadSpec(With("max_pixels", "18446744073709551615")).area, UINT64_MAX);
}

TEST(SpecReader, OptionalIntegersArraysAndBooleans) {
  auto spec = SpecReader::Parse(
      R"({"family": "f", "ids": [-1, 9223372036854775807], "yes": true, "id": -3, "bad": [1, 2.0]})",
      UnknownKeys::kError);
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->Ints("ids"), (std::vector<int64_t>{-1, INT64_MAX}));
  EXPECT_TRUE(spec->Ints("absent").empty());
  EXPECT_TRUE(spec->BoolOr("yes", false));
  EXPECT_TRUE(spec->BoolOr("absent", true));
  EXPECT_EQ(spec->IntOr("id", -5, 5, 1), -3);
  EXPECT_EQ(spec->IntOr("absent", -5, 5, 1), 1);
  spec->Ints("bad");
  EXPECT_EQ(spec->Finish().error().message.substr(0, 39),
            "f spec: bad: expected an integer from -");
  spec->BoolOr("id", true);  // the first error stays
  EXPECT_EQ(spec->Finish().error().message.substr(0, 12), "f spec: bad:");
}

TEST(SpecReader, RoundsDoublesToFloats) {
  EXPECT_EQ(ReadSpec(With("mean", "[0.48145466, 1e-50, -0.1]")).mean,
            (std::array<float, 3>{static_cast<float>(0.48145466), 0.0f, static_cast<float>(-0.1)}));
}

TEST(SpecReader, MissingKeys) {
  ExpectError(With("patch_size", ""), "f spec: missing field `patch_size`");
  ExpectError(With("mean", ""), "f spec: missing field `mean`");
  ExpectError("{}", "spec: missing field `family`");
}

TEST(SpecReader, MisspeltKeysNameTheNearest) {
  ExpectError(With("modee", "1"), "f spec: unknown field `modee`; did you mean `mode`?");
  ExpectError(With("family_", "1"), "f spec: unknown field `family_`; did you mean `family`?");
  // The misspelling explains the missing key, so it is what is said.
  ExpectError(
      R"({"family": "f", "image_token_id": 7, "max_pixels": 1, "pach_size": 14, "mean": [1, 1, 1]})",
      "f spec: unknown field `pach_size`; did you mean `patch_size`?");
  const Read ignored = ReadSpec(With("modee", "1"), UnknownKeys::kIgnore);
  EXPECT_EQ(ignored.error, "");
}

TEST(SpecReader, UnknownKeysAreShownSafely) {
  ExpectError(With("a\\u0001\\u00e9", "1"), "f spec: unknown field `a???`; did you mean `mean`?");
  const std::string message = ReadSpec(With(std::string(500'000, 'x'), "1")).error;
  EXPECT_LT(message.size(), 200u);
}

TEST(SpecReader, IntegersAreExact) {
  for (const char* key : {"image_token_id", "max_pixels", "patch_size", "generation"}) {
    for (const char* value :
         {"14.0", "1e1", "\"14\"", "null", "true", "[14]", "{}", "18446744073709551616"}) {
      const Read read = ReadSpec(With(key, value));
      EXPECT_NE(read.error.find(std::string("f spec: ") + key + ": expected an integer from "),
                std::string::npos)
          << key << " " << value << " " << read.error;
    }
  }
  ExpectError(With("image_token_id", "9223372036854775808"),
              "f spec: image_token_id: expected an integer from -9223372036854775808 to "
              "9223372036854775807, got 9223372036854775808");
  ExpectError(With("max_pixels", "-1"),
              "f spec: max_pixels: expected an integer from 0 to 18446744073709551615, got -1");
  ExpectError(With("generation", "11"),
              "f spec: generation: expected an integer from 12 to 13, got 11");
  ExpectError(With("patch_size", "101"),
              "f spec: patch_size: expected an integer from 1 to 100, got 101");
  ExpectError(With("patch_size", "0"), "f spec: sizes must be positive, got patch_size 0");
}

TEST(SpecReader, Channels) {
  ExpectError(With("mean", "[1, 2]"),
              "f spec: mean: expected an array of 3 numbers, got an array of 2");
  ExpectError(With("mean", "[1, 2, 3, 4]"),
              "f spec: mean: expected an array of 3 numbers, got an array of 4");
  ExpectError(With("mean", "0.5"), "f spec: mean: expected an array of 3 numbers, got 0.5");
  ExpectError(With("mean", "[1, 2, null]"),
              "f spec: mean: expected a number within float32, got null");
  ExpectError(With("mean", "[1, 1e39, 2]"),
              "f spec: mean: expected a number within float32, got 1e+39");
}

TEST(SpecReader, Choices) {
  ExpectError(With("mode", "\"four\""),
              "f spec: mode: unknown variant `four`, expected `one`, `two` or `three`");
  ExpectError(With("mode", "null"),
              "f spec: mode: unknown variant null, expected `one`, `two` or `three`");
}

TEST(SpecReader, DuplicateKeys) {
  ExpectError(With("mode", "\"one\", \"mode\": \"two\""), "spec: duplicate field `mode`");
  ExpectError(R"({"family": "f", "x": {"a": 1, "b": [{"a": 1}], "a": 2}})",
              "spec: duplicate field `a`");
}

TEST(SpecReader, TextsThatAreNoObject) {
  ExpectError("", "spec: not valid JSON at byte 1");
  ExpectError("hello", "spec: not valid JSON at byte 1");
  ExpectError("{\"family\": \"f\"} x", "spec: not valid JSON at byte 17");
  ExpectError("{\"family\": 1e999}", "spec: not valid JSON at byte 16");
  ExpectError("{\"family\": \"\xff\"}", "spec: not valid JSON at byte 13");
  ExpectError("[1]", "spec: expected a JSON object, got an array of 1");
  ExpectError("7", "spec: expected a JSON object, got 7");
  ExpectError("{\"family\": 7}", "spec: family: expected a string, got 7");
  ExpectError(std::string("{}\0{}", 5), "spec: not valid JSON at byte 3");
}

TEST(SpecReader, DepthAndSizeAreBounded) {
  ExpectError("{\"a\": " + std::string(100'000, '['), "spec: nested deeper than 16 levels",
              ErrorCode::kLimitExceeded);
  ExpectError(std::string(SpecReader::kMaxBytes + 1, ' '),
              "spec: 1048577 bytes, the limit is 1048576", ErrorCode::kLimitExceeded);
}

TEST(SpecReader, NumbersDoNotDependOnTheLocale) {
  if (std::setlocale(LC_NUMERIC, "de_DE.UTF-8") == nullptr) GTEST_SKIP() << "no such locale here";
  const Read read = ReadSpec(With("mean", "[0.25, 0.5, 0.75]"));
  std::setlocale(LC_NUMERIC, "C");
  EXPECT_EQ(read.mean, (std::array<float, 3>{0.25f, 0.5f, 0.75f}));
}

}  // namespace
}  // namespace mmcpp::families
