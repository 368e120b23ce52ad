// Proxy decisions from environment variables.
#include "fetch/proxy.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/ensure.h"

namespace mmcpp::fetch {
namespace {

constexpr const char* kVariables[] = {"HTTP_PROXY",  "http_proxy", "HTTPS_PROXY",
                                      "https_proxy", "ALL_PROXY",  "all_proxy",
                                      "NO_PROXY",    "no_proxy",   "REQUEST_METHOD"};

std::string UpperAscii(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  return text;
}

// The value that `name` (lower case) has: a lower-case variable, even an empty one, hides the
// other.
std::string Variable(const Environment& environment, const std::string& name) {
  if (const auto lower = environment(name)) return *lower;
  if (name == "http_proxy" && environment("REQUEST_METHOD")) return "";
  return environment(UpperAscii(name)).value_or("");
}

// A network of requests' NO_PROXY: an IPv4 address in any form that inet_aton reads, and 0 to 32
// bits.
std::optional<Network> ParseNoProxyNetwork(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {};
  if (auto network = ParseNetwork(text)) return network;
  const auto loose = ParseIpv4Loose(text.substr(0, slash));
  if (!loose) return {};
  return ParseNetwork(loose->ToString() + std::string(text.substr(slash)));
}

// Equal, or the end of the host behind a dot.
bool MatchesName(const std::string& host, const std::string& name) {
  return host == name || EndsWith(host, "." + name);
}

bool MatchesAddress(const Url& url, std::string_view entry) {
  if (const auto network = ParseNoProxyNetwork(entry)) return network->Contains(*url.address);
  return entry == url.BracketedHost();
}

bool Matches(const Url& url, std::string_view entry) {
  const size_t dots = std::min(entry.find_first_not_of('.'), entry.size());
  const std::string name = LowerAscii(entry.substr(dots));
  if (name == "*" || MatchesName(url.host, name)) return true;
  if (url.address && MatchesAddress(url, entry)) return true;
  return url.explicit_port &&
         MatchesName(url.BracketedHost() + ":" + std::to_string(url.port), name);
}

bool Bypasses(const Url& url, std::string list) {
  list.erase(std::remove(list.begin(), list.end(), ' '), list.end());
  std::string_view rest = list;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view entry = TrimBlanks(rest.substr(0, comma));
    if (!entry.empty() && Matches(url, entry)) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

// NO_PROXY alone is read the other way about: an empty lower-case variable hides nothing.
std::string NoProxy(const Environment& environment) {
  const std::string lower = environment("no_proxy").value_or("");
  return lower.empty() ? environment("NO_PROXY").value_or("") : lower;
}

}  // namespace

Environment SnapshotEnvironment() {
  std::map<std::string, std::string> values;
  for (const char* name : kVariables) {
    if (const char* value = std::getenv(name)) values[name] = value;
  }
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return {};
    return found->second;
  };
}

std::string DecideProxy(const Url& url, const Environment& environment) {
  std::string proxy = Variable(environment, url.scheme + "_proxy");
  if (proxy.empty()) proxy = Variable(environment, "all_proxy");
  if (proxy.empty() || Bypasses(url, NoProxy(environment))) return "";
  return proxy;
}

std::string Proxy::ToString() const {
  const bool brackets = address && address->v6;
  return scheme + "://" + (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<Proxy> ParseProxy(const std::string& text) {
  const std::string given(TrimBlanks(text));
  const bool has_scheme = given.find("://") != std::string::npos;
  auto url = ParseUrl(has_scheme ? given : "http://" + given);
  if (!url.ok()) {
    return FetchFailed(
        "proxy: the proxy that the environment names is not http://HOST:PORT or "
        "https://HOST:PORT");
  }
  return Proxy{url->scheme, url->host, url->address, url->port, url->credentials};
}

}  // namespace mmcpp::fetch
