// IP addresses: reading them as URLs and attackers write them, and which are no place to send a
// request to.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mmcpp::fetch {

/// An IPv4 address (4 bytes used) or an IPv6 address, in network order.
struct IpAddress {
  std::array<uint8_t, 16> bytes{};
  bool v6 = false;

  bool operator==(const IpAddress& other) const { return v6 == other.v6 && bytes == other.bytes; }
  std::string ToString() const;
};

/// Dotted decimal and nothing else.
std::optional<IpAddress> ParseIpv4(std::string_view text);
/// As the WHATWG URL standard reads a host that ends in a number: one to four parts, decimal, octal
/// or hexadecimal, the last filling what is left.
std::optional<IpAddress> ParseIpv4Loose(std::string_view text);
/// True if that standard would read the host as an IPv4 address or refuse it: its last label is a
/// number.
bool EndsInNumber(std::string_view host);
/// RFC 4291, without brackets and zone.
std::optional<IpAddress> ParseIpv6(std::string_view text);
/// Either of the two strict forms.
std::optional<IpAddress> ParseAddress(std::string_view text);

struct Network {
  IpAddress address;
  int bits = 0;

  bool Contains(const IpAddress& other) const;
};

/// "address/bits", or an address alone; host bits may be set.
std::optional<Network> ParseNetwork(std::string_view text);

/// What kind of address this is, such as "loopback"; nullptr for one that is globally reachable
/// (IANA special-purpose registries).
const char* SpecialKind(const IpAddress& address);

/// The IPv4 address inside an IPv4-mapped, IPv4-compatible, 6to4 or NAT64 address.
std::optional<IpAddress> EmbeddedIpv4(const IpAddress& address);

}  // namespace mmcpp::fetch
