// Sources as strangers write them: base64 and data: URLs give back what was written into them, and
// whatever the URL parser takes, it would read again as the same URL.
#include <cstdlib>
#include <string>
#include <string_view>

#include "byte_reader.h"
#include "fetch/file.h"
#include "fetch/proxy.h"
#include "fetch/url.h"
#include "mmcpp/source.h"
#include "support/base64_encode.h"

namespace mmcpp::fuzz {
namespace {

constexpr size_t kMaxBytes = 256;

void Require(bool condition) {
  if (!condition) std::abort();
}

bool Equal(const Result<Buffer>& decoded, std::string_view bytes) {
  return decoded.ok() && std::string_view(reinterpret_cast<const char*>((*decoded).data()),
                                          (*decoded).size()) == bytes;
}

void CheckRefusal(const Error& error) {
  Require(error.code == ErrorCode::kBadSource || error.code == ErrorCode::kLimitExceeded);
}

// Blanks wherever the fuzzer wants them, and perhaps no padding.
std::string Disturb(std::string text, ByteReader* in) {
  if (in->Below(2) == 0) {
    while (!text.empty() && text.back() == '=') text.pop_back();
  }
  for (size_t count = in->Below(8); count > 0; --count) {
    text.insert(in->Below(text.size() + 1), 1, " \t\n\r\f"[in->Below(5)]);
  }
  return text;
}

void CheckRoundTrips(std::string_view bytes, ByteReader* in) {
  const std::string text = test::EncodeBase64(bytes);
  const SourceOptions exact{bytes.size(), false};
  Require(Equal(DecodeBase64Strict(text, bytes.size()), bytes));
  const std::string disturbed = Disturb(text, in);
  Require(Equal(DecodeBase64(disturbed, exact), bytes));
  Require(Equal(DecodeDataUrl("data:x/y;base64," + disturbed, exact), bytes));
  std::string escaped = "data:,";
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    escaped += {'%', "0123456789abcdef"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
  }
  Require(Equal(DecodeDataUrl(escaped, exact), bytes));
  if (!bytes.empty()) {
    const SourceOptions less{bytes.size() - 1, false};
    Require(DecodeBase64(disturbed, less).error().code == ErrorCode::kLimitExceeded);
    Require(DecodeDataUrl(escaped, less).error().code == ErrorCode::kLimitExceeded);
  }
}

void CheckDecoders(std::string_view text) {
  const auto strict = DecodeBase64Strict(text, kMaxBytes);
  const auto lenient = DecodeBase64(text, {kMaxBytes, false});
  if (!strict.ok()) CheckRefusal(strict.error());
  if (!lenient.ok()) CheckRefusal(lenient.error());
  // What is right in the strict grammar means the same in the other.
  if (strict.ok()) {
    Require(Equal(lenient, {reinterpret_cast<const char*>((*strict).data()), (*strict).size()}));
  }
  for (const std::string start : {"", "data:", "data:,", "data:;base64,"}) {
    const auto decoded = DecodeSource(start + std::string(text), {kMaxBytes, true});
    if (!decoded.ok()) {
      CheckRefusal(decoded.error());
    } else {
      Require((*decoded).size() <= kMaxBytes);
    }
  }
}

void CheckUrl(const fetch::Url& url) {
  const auto again = fetch::ParseUrl(url.ToString());
  Require(again.ok());
  Require(again->ToString() == url.ToString() && again->host == url.host &&
          again->port == url.port && again->target == url.target);
  Require(again->address == url.address);
  // Nothing in the host that another parser could take for its end.
  Require(url.host.find_first_of("/\\?#@% \t\r\n[]<>\"") == std::string::npos);
  Require(url.address || url.host.find(':') == std::string::npos);
  for (const char c : url.ToString()) Require(c > 0x20 && c < 0x7f && c != '\\');
}

void CheckUrls(std::string_view text) {
  for (const std::string start : {"", "http://", "https://user:pw@", "http://a.example/"}) {
    const auto url = fetch::ParseUrl(start + std::string(text));
    if (url.ok()) {
      CheckUrl(*url);
    } else {
      CheckRefusal(url.error());
    }
  }
  const auto base = fetch::ParseUrl("http://a.example/b/c?d");
  const auto target = fetch::ResolveReference(*base, text);
  if (target.ok()) {
    CheckUrl(*target);
  } else {
    Require(target.error().code == ErrorCode::kBadSource ||
            target.error().code == ErrorCode::kForbidden);
  }
}

void CheckProxies(std::string_view text) {
  const auto url = fetch::ParseUrl("http://127.0.0.1:8080/");
  const std::string value(text);
  const auto proxy = fetch::DecideProxy(*url, [&value](const std::string& name) {
    return name == "no_proxy" ? value : std::string("proxy:1");
  });
  Require(proxy.empty() || proxy == "proxy:1");
  const auto parsed = fetch::ParseProxy(value);
  if (!parsed.ok()) Require(parsed.error().code == ErrorCode::kFetchFailed);
}

void CheckFiles(std::string_view text) {
  const auto path = fetch::FilePath("file:" + std::string(text));
  if (path.ok()) {
    Require(path->front() == '/' && path->find('\0') == std::string::npos);
  } else {
    CheckRefusal(path.error());
  }
}

}  // namespace
}  // namespace mmcpp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mmcpp::fuzz;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ByteReader in(data, size);
  CheckRoundTrips(text.substr(0, kMaxBytes), &in);
  CheckDecoders(text);
  CheckUrls(text);
  CheckProxies(text);
  CheckFiles(text);
  return 0;
}
