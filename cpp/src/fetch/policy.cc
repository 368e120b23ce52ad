// The fetch policy: what it was given is checked once, then asked for every source and every
// redirect.
#include "fetch/policy.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/ascii.h"
#include "base/ensure.h"

namespace mmcpp::fetch {
namespace {

constexpr std::string_view kSchemes[] = {"http", "https", "file", "data", "base64"};

// Names that the public DNS never has, or that mean this machine.
constexpr std::string_view kPrivateSuffixes[] = {".localhost", ".localdomain", ".local",
                                                 ".internal",  ".intranet",    ".lan",
                                                 ".home.arpa", ".corp",        ".home"};

bool IsPrivateName(std::string_view host) {
  return host.find('.') == std::string_view::npos ||
         std::any_of(std::begin(kPrivateSuffixes), std::end(kPrivateSuffixes),
                     [host](std::string_view suffix) { return EndsWith(host, suffix); });
}

Status CheckNumbers(const FetchPolicy& policy) {
  if (policy.max_redirects < 0) {
    return InvalidArgument("policy: max_redirects is " + std::to_string(policy.max_redirects));
  }
  // A day, so that arithmetic in milliseconds stays far from its ends.
  if (policy.timeout_s && !(*policy.timeout_s >= 0 && *policy.timeout_s <= 86400)) {
    return InvalidArgument("policy: timeout_s is not between 0 and 86400");
  }
  return Ok{};
}

// The folder as given, without a slash at its end, and as its links resolve.
Status AddRoot(const std::string& folder, std::vector<std::string>* roots) {
  if (folder.empty() || folder.front() != '/') {
    return InvalidArgument("policy: file root \"" + folder + "\" is not an absolute path");
  }
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(folder.c_str(), nullptr),
                                                         &std::free);
  if (real == nullptr) {
    return InvalidArgument("policy: file root \"" + folder + "\" does not exist");
  }
  std::string given = folder;
  while (!given.empty() && given.back() == '/') given.pop_back();
  std::string resolved = real.get();
  if (resolved == "/") resolved.clear();
  roots->push_back(std::move(given));
  roots->push_back(std::move(resolved));
  return Ok{};
}

}  // namespace

Result<Policy::HostRule> Policy::ParseHostRule(std::string_view text) {
  HostRule rule;
  const std::string given(text);
  if (StartsWith(text, "*.")) {
    rule.subdomains = true;
    text.remove_prefix(2);
  }
  // The URL parser reads it, so that both sides of a comparison were read alike.
  auto url = ParseUrl("http://" + std::string(text) + "/");
  if (!url.ok() || url->credentials || url->target != "/" ||
      text.find_first_of("/?#") != std::string_view::npos || (rule.subdomains && url->address)) {
    return InvalidArgument("policy: allowed host \"" + given +
                           "\" is not HOST, HOST:PORT or *.HOST");
  }
  rule.host = url->host;
  if (url->explicit_port) rule.port = url->port;
  return rule;
}

Result<Policy> Policy::Compile(const FetchPolicy& given) {
  Policy policy;
  policy.options_ = given;
  MMCPP_TRY(CheckNumbers(given));
  for (const std::string& scheme : given.schemes) {
    if (std::find(std::begin(kSchemes), std::end(kSchemes), scheme) == std::end(kSchemes)) {
      return InvalidArgument("policy: unknown scheme \"" + scheme +
                             "\"; there are http, https, file, data and base64");
    }
  }
  if (given.allowed_hosts) {
    for (const std::string& host : *given.allowed_hosts) {
      MMCPP_ASSIGN(HostRule rule, ParseHostRule(host));
      policy.hosts_.push_back(std::move(rule));
    }
  }
  for (const std::string& text : given.allowed_networks) {
    const auto network = ParseNetwork(text);
    if (!network) {
      return InvalidArgument("policy: allowed network \"" + text +
                             "\" is not ADDRESS or ADDRESS/BITS");
    }
    policy.networks_.push_back(*network);
  }
  for (const std::string& folder : given.file_roots) {
    MMCPP_TRY(AddRoot(folder, &policy.file_roots_));
  }
  return policy;
}

Status Policy::CheckScheme(std::string_view scheme) const {
  if (std::find(options_.schemes.begin(), options_.schemes.end(), scheme) !=
      options_.schemes.end()) {
    return Ok{};
  }
  return Forbidden("policy: " + std::string(scheme) + " sources are not allowed");
}

bool Policy::ListsHost(const Url& url) const {
  return std::any_of(hosts_.begin(), hosts_.end(), [&url](const HostRule& rule) {
    if (rule.port && *rule.port != url.port) return false;
    return rule.subdomains ? EndsWith(url.host, "." + rule.host) : url.host == rule.host;
  });
}

Status Policy::CheckUrl(const Url& url, bool proxied) const {
  MMCPP_TRY(CheckScheme(url.scheme));
  const bool listed = ListsHost(url);
  if (options_.allowed_hosts && !listed) {
    return Forbidden("policy: host " + url.BracketedHost() +
                     " is not on the list of allowed hosts");
  }
  if (url.address) return CheckAddresses(url.BracketedHost(), {*url.address});
  if (proxied && !listed && IsPrivateName(url.host)) {
    return Forbidden("policy: " + url.host + " is a name of a private network, not for a proxy");
  }
  return Ok{};
}

bool Policy::AllowsAddress(const IpAddress& address, std::string* kind) const {
  const char* const special = SpecialKind(address);
  if (special != nullptr &&
      std::none_of(networks_.begin(), networks_.end(),
                   [&address](const Network& network) { return network.Contains(address); })) {
    *kind = special;
    return false;
  }
  const auto inner = EmbeddedIpv4(address);
  return !inner || AllowsAddress(*inner, kind);
}

Status Policy::CheckAddresses(const std::string& host,
                              const std::vector<IpAddress>& addresses) const {
  for (const IpAddress& address : addresses) {
    std::string kind;
    // The address itself is not told: names must not be looked up through our messages.
    if (!AllowsAddress(address, &kind)) {
      return Forbidden("policy: " + host + " has an address that is not allowed (" + kind + ")");
    }
  }
  return Ok{};
}

std::chrono::milliseconds SourceTimeout(const FetchPolicy& policy, const char* variable) {
  if (policy.timeout_s) {
    return std::chrono::milliseconds(static_cast<int64_t>(std::ceil(*policy.timeout_s * 1000)));
  }
  // As Rust reads an unsigned number: digits, perhaps a plus before them, no blanks.
  constexpr std::chrono::seconds kDefault(3);
  if (variable == nullptr) return kDefault;
  std::string_view digits = variable;
  if (StartsWith(digits, "+")) digits.remove_prefix(1);
  if (digits.empty()) return kDefault;
  int64_t seconds = 0;
  for (char c : digits) {
    if (!IsDigit(c)) return kDefault;
    seconds = std::min<int64_t>(seconds * 10 + (c - '0'), 86400);
  }
  return std::chrono::seconds(seconds);
}

}  // namespace mmcpp::fetch
