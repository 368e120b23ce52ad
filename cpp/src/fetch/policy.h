// The policy, read once and ready to judge: schemes, hosts, addresses, files.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fetch/address.h"
#include "fetch/url.h"
#include "mmcpp/fetch.h"
#include "mmcpp/status.h"

namespace mmcpp::fetch {

class Policy {
 public:
  /// kInvalidArgument for a scheme, host, network or folder that cannot be meant.
  static Result<Policy> Compile(const FetchPolicy& policy);

  const FetchPolicy& options() const { return options_; }

  /// Whether sources of this scheme are taken: "http", "https", "file", "data", "base64".
  Status CheckScheme(std::string_view scheme) const;

  /// Scheme, host list and, where the host is an address, the address. `proxied`: the address that
  /// is connected to will be another's choice, so that names of private networks are refused too.
  Status CheckUrl(const Url& url, bool proxied) const;

  /// All addresses of a name: one that is refused refuses the name, since the next look-up may give
  /// that one first.
  Status CheckAddresses(const std::string& host, const std::vector<IpAddress>& addresses) const;

  /// Whether requests may go to this address; if not, `kind` says what it is.
  bool AllowsAddress(const IpAddress& address, std::string* kind) const;

  /// The folders below which files may be read, each as given and as its links resolve.
  const std::vector<std::string>& file_roots() const { return file_roots_; }

 private:
  struct HostRule {
    std::string host;
    bool subdomains = false;
    std::optional<uint16_t> port;
  };
  static Result<HostRule> ParseHostRule(std::string_view text);
  bool ListsHost(const Url& url) const;

  FetchPolicy options_;
  std::vector<HostRule> hosts_;
  std::vector<Network> networks_;
  std::vector<std::string> file_roots_;
};

/// The time one source may take: of the policy, else `variable` (REQUEST_TIMEOUT) in whole seconds
/// as the reference crate reads it, else 3 s.
std::chrono::milliseconds SourceTimeout(const FetchPolicy& policy, const char* variable);

}  // namespace mmcpp::fetch
