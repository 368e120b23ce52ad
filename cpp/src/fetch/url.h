// http and https URLs. What this parser returns is what the policy judges, what the proxy rules
// look at and, written out again, what the client is given: there is no second reading that could
// differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fetch/address.h"
#include "mmcpp/status.h"

namespace mmcpp::fetch {

struct Credentials {
  std::string user, password;  ///< percent-decoded
};

struct Url {
  std::string scheme;  ///< "http" or "https"
  std::optional<Credentials> credentials;
  std::string host;  ///< lower case; an address in canonical form, IPv6 without brackets
  std::optional<IpAddress> address;  ///< of a host that is an address
  uint16_t port = 0;
  bool explicit_port = false;  ///< the URL names its port
  std::string target = "/";    ///< path and query, percent-encoded, without fragment

  /// The host, with brackets if it is IPv6.
  std::string BracketedHost() const;
  /// Without credentials; the port only where it is not the scheme's own.
  std::string ToString() const;
  bool SameOrigin(const Url& other) const;
};

/// Reads an absolute http(s) URL. kBadSource for what two parsers could read differently:
/// backslashes, control characters, more than one '@', escapes in the host, characters beyond ASCII
/// in the host (write them in punycode), a port that is no number. Hosts that are numbers are IPv4
/// addresses in every notation that browsers read.
Result<Url> ParseUrl(std::string_view text);

/// The URL that a Location header means (RFC 3986, section 5.2). kForbidden for another scheme.
Result<Url> ResolveReference(const Url& base, std::string_view reference);

/// "%41" to "A"; nullopt for a malformed escape.
std::optional<std::string> PercentDecode(std::string_view text);

}  // namespace mmcpp::fetch
