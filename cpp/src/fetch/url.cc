// The URL parser: strict in the authority, where confusions are dangerous; forgiving in the path,
// where they are not.
#include "fetch/url.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/ensure.h"

namespace mmcpp::fetch {
namespace {

constexpr size_t kMaxUrl = size_t{64} << 10;

Error BadUrl(const std::string& what) { return BadSource("url: " + what); }

Status CheckCharacters(std::string_view text) {
  if (text.size() > kMaxUrl) {
    return BadUrl(std::to_string(text.size()) + " characters, at most " + std::to_string(kMaxUrl));
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == 0x7f) return BadUrl("control character at offset " + std::to_string(i));
    // Browsers take it for '/', others for a character like any other.
    if (c == '\\') return BadUrl("backslash at offset " + std::to_string(i));
  }
  return Ok{};
}

std::optional<uint16_t> ParsePort(std::string_view digits) {
  uint32_t port = 0;
  if (digits.empty() || digits.size() > 5) return {};
  for (char c : digits) {
    if (!IsDigit(c)) return {};
    port = port * 10 + static_cast<uint32_t>(c - '0');
  }
  if (port == 0 || port > 65535) return {};
  return static_cast<uint16_t>(port);
}

uint16_t DefaultPort(std::string_view scheme) { return scheme == "https" ? 443 : 80; }

Status ParseUserinfo(std::string_view text, Url* url) {
  constexpr std::string_view kMarks = "-._~!$&'()*+,;=:%";
  for (char c : text) {
    if (!IsAlnum(c) && kMarks.find(c) == std::string_view::npos) {
      return BadUrl("a character in user or password that must be percent-encoded");
    }
  }
  const size_t colon = text.find(':');
  auto user = PercentDecode(text.substr(0, colon));
  auto password = colon == std::string_view::npos ? std::optional<std::string>("")
                                                  : PercentDecode(text.substr(colon + 1));
  if (!user || !password) return BadUrl("malformed escape in user or password");
  if (user->find('\0') != std::string::npos || password->find('\0') != std::string::npos) {
    return BadUrl("NUL in user or password");
  }
  if (!text.empty()) url->credentials = Credentials{*std::move(user), *std::move(password)};
  return Ok{};
}

Status CheckName(std::string_view name) {
  for (char c : name) {
    if (static_cast<unsigned char>(c) >= 0x80) {
      return BadUrl("the host has a character beyond ASCII; write it in punycode");
    }
    if (!IsAlnum(c) && c != '-' && c != '_' && c != '.') {
      return BadUrl("the host has a character that no host name has");
    }
  }
  size_t label = 0;
  for (size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && name[i] != '.') continue;
    if (i == label) return BadUrl("the host has an empty label");
    if (i - label > 63) return BadUrl("the host has a label of more than 63 characters");
    label = i + 1;
  }
  if (name.size() > 253) return BadUrl("the host has more than 253 characters");
  return Ok{};
}

Status ParseHost(std::string_view text, Url* url) {
  if (text.empty()) return BadUrl("no host");
  if (text.front() == '[') {
    url->address = ParseIpv6(text.substr(1, text.size() - 2));
    if (text.back() != ']' || !url->address) return BadUrl("not an IPv6 address in the brackets");
    url->host = url->address->ToString();
    return Ok{};
  }
  if (EndsInNumber(text)) {
    url->address = ParseIpv4Loose(text);
    if (!url->address) return BadUrl("the host is neither a name nor an IPv4 address");
    url->host = url->address->ToString();
    return Ok{};
  }
  // The root's dot is dropped, so that lists of hosts need not name both forms.
  if (text.back() == '.') text.remove_suffix(1);
  MMCPP_TRY(CheckName(text));
  url->host = LowerAscii(text);
  return Ok{};
}

Status ParseAuthority(std::string_view text, Url* url) {
  const size_t at = text.find('@');
  if (at != std::string_view::npos) {
    if (text.find('@', at + 1) != std::string_view::npos) return BadUrl("more than one '@'");
    MMCPP_TRY(ParseUserinfo(text.substr(0, at), url));
    text.remove_prefix(at + 1);
  }
  size_t colon = text.find(':');
  if (!text.empty() && text.front() == '[') {
    const size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) return BadUrl("a '[' without ']'");
    colon = bracket + 1 < text.size() ? bracket + 1 : std::string_view::npos;
    if (colon != std::string_view::npos && text[colon] != ':') {
      return BadUrl("something other than a port after ']'");
    }
  }
  url->port = DefaultPort(url->scheme);
  if (colon != std::string_view::npos && colon + 1 < text.size()) {
    const auto port = ParsePort(text.substr(colon + 1));
    if (!port) return BadUrl("the port is not a number from 1 to 65535");
    url->port = *port;
    url->explicit_port = true;
  }
  return ParseHost(text.substr(0, colon), url);
}

// Percent-encodes what a request line must not hold, and leaves escapes as they are.
std::string EncodeTarget(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  constexpr std::string_view kEncoded = " \"<>^`{|}";
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || kEncoded.find(c) != std::string_view::npos) {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      out += c;
    }
  }
  return out;
}

// 0, 1 or 2 for a segment that is neither, "." or "..", each dot perhaps written "%2e".
int Dots(std::string_view segment) {
  int dots = 0;
  while (!segment.empty()) {
    if (segment.front() == '.') {
      segment.remove_prefix(1);
    } else if (segment.size() >= 3 && segment[0] == '%' && segment[1] == '2' &&
               (segment[2] == 'e' || segment[2] == 'E')) {
      segment.remove_prefix(3);
    } else {
      return 0;
    }
    ++dots;
  }
  return dots <= 2 ? dots : 0;
}

// RFC 3986, section 5.2.4, for a path that begins with '/'.
std::string RemoveDotSegments(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, slash);
    const bool last = slash == path.size();
    path.remove_prefix(slash);
    const int dots = Dots(segment);
    if (dots == 2 && !segments.empty()) segments.pop_back();
    if (dots == 0) {
      segments.push_back(segment);
    } else if (last) {
      segments.emplace_back();  // a folder keeps its slash
    }
  }
  std::string out;
  for (const std::string_view segment : segments) out.append("/").append(segment);
  return out.empty() ? "/" : out;
}

// `text` begins with '/' or '?' or is empty; a fragment is dropped.
std::string MakeTarget(std::string_view text) {
  text = text.substr(0, text.find('#'));
  const size_t query = std::min(text.find('?'), text.size());
  return RemoveDotSegments(EncodeTarget(text.substr(0, query))) + EncodeTarget(text.substr(query));
}

// The scheme that `text` begins with, lower case; empty if it begins with none.
std::string SchemeOf(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return "";
  const std::string_view scheme = text.substr(0, colon);
  const bool valid = IsAlpha(scheme[0]) && std::all_of(scheme.begin(), scheme.end(), [](char c) {
                       return IsAlnum(c) || c == '+' || c == '-' || c == '.';
                     });
  return valid ? LowerAscii(scheme) : "";
}

}  // namespace

std::optional<std::string> PercentDecode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 1 < text.size() ? HexValue(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexValue(text[i + 2]) : -1;
    if (high < 0 || low < 0) return {};
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::string Url::BracketedHost() const { return address && address->v6 ? "[" + host + "]" : host; }

std::string Url::ToString() const {
  std::string text = scheme + "://" + BracketedHost();
  if (port != DefaultPort(scheme)) text += ":" + std::to_string(port);
  return text + target;
}

bool Url::SameOrigin(const Url& other) const {
  return scheme == other.scheme && host == other.host && port == other.port;
}

Result<Url> ParseUrl(std::string_view text) {
  text = TrimBlanks(text);
  MMCPP_TRY(CheckCharacters(text));
  Url url;
  url.scheme = SchemeOf(text);
  if (url.scheme != "http" && url.scheme != "https") return BadUrl("not an http or https URL");
  text.remove_prefix(url.scheme.size() + 1);
  if (text.substr(0, 2) != "//") return BadUrl("no \"//\" after the scheme");
  text.remove_prefix(2);
  const size_t end = std::min(text.find_first_of("/?#"), text.size());
  MMCPP_TRY(ParseAuthority(text.substr(0, end), &url));
  url.target = MakeTarget(text.substr(end));
  return url;
}

Result<Url> ResolveReference(const Url& base, std::string_view reference) {
  reference = TrimBlanks(reference);
  MMCPP_TRY(CheckCharacters(reference));
  const std::string scheme = SchemeOf(reference);
  if (!scheme.empty() || reference.substr(0, 2) == "//") {
    if (!scheme.empty() && scheme != "http" && scheme != "https") {
      return Forbidden("url: the redirect leaves http and https");
    }
    MMCPP_ASSIGN(Url url, ParseUrl(scheme.empty() ? base.scheme + ":" + std::string(reference)
                                                  : std::string(reference)));
    // Credentials go on to the server that they were meant for, and to no other.
    if (!url.credentials && url.SameOrigin(base)) url.credentials = base.credentials;
    return url;
  }
  Url url = base;
  const std::string_view path = std::string_view(base.target).substr(0, base.target.find('?'));
  if (reference.empty() || reference.front() == '#') return url;
  if (reference.front() == '/') {
    url.target = MakeTarget(reference);
  } else if (reference.front() == '?') {
    url.target = MakeTarget(std::string(path).append(reference));
  } else {
    url.target = MakeTarget(std::string(path.substr(0, path.rfind('/') + 1)).append(reference));
  }
  return url;
}

}  // namespace mmcpp::fetch
