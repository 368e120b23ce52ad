// Whether a URL goes through a proxy, and through which: the rules of the Python package
// requests 2.34, on the environment that is given.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "fetch/url.h"
#include "mmcpp/status.h"

namespace mmcpp::fetch {

/// A variable's value, or nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// The variables that DecideProxy asks for, as they are now. Not to be called while another thread
/// changes the environment.
Environment SnapshotEnvironment();

/// The value of the variable that decides for this URL; empty for a direct connection.
/// HTTP_PROXY or HTTPS_PROXY by the URL's scheme, then ALL_PROXY; a lower-case variable wins, and
/// when set but empty hides the upper-case one. In a CGI program (REQUEST_METHOD is set) HTTP_PROXY
/// is a request header and is ignored. NO_PROXY is a list of host names and their ends, "*", IPv4
/// networks and host:port.
/// Beyond requests (each is a case of the test): IPv6 networks and addresses in brackets, host:port
/// for addresses, "/0", "*" beside other entries, letter case before a port, and NO_PROXY as a
/// whole where no_proxy is set but empty.
std::string DecideProxy(const Url& url, const Environment& environment);

struct Proxy {
  std::string scheme;  ///< "http" or "https"
  std::string host;    ///< IPv6 without brackets
  std::optional<IpAddress> address;
  uint16_t port = 0;
  std::optional<Credentials> credentials;

  /// "http://host:port"
  std::string ToString() const;
};

/// Reads a proxy variable; "host:port" means http. kFetchFailed for what cannot be used, such as
/// SOCKS: the operator's mistake, whose value is not told.
Result<Proxy> ParseProxy(const std::string& text);

}  // namespace mmcpp::fetch
