// IP addresses: parsers, networks, and the table of special-purpose ranges.
#include "fetch/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/ascii.h"

namespace mmcpp::fetch {
namespace {

IpAddress FromIpv4Value(uint32_t value) {
  IpAddress address;
  for (int i = 0; i < 4; ++i) {
    address.bytes[static_cast<size_t>(i)] = static_cast<uint8_t>(value >> (24 - 8 * i));
  }
  return address;
}

std::optional<IpAddress> Parse(int family, std::string_view text) {
  // inet_pton wants a terminated string and would stop at an embedded NUL.
  if (text.size() > INET6_ADDRSTRLEN || text.find('\0') != std::string_view::npos) return {};
  IpAddress address;
  address.v6 = family == AF_INET6;
  if (inet_pton(family, std::string(text).c_str(), address.bytes.data()) != 1) return {};
  return address;
}

// A number of the URL standard: "0x" is hexadecimal, a leading zero octal; "0x" alone is zero.
std::optional<uint64_t> ParseNumber(std::string_view text) {
  if (text.empty()) return {};
  int base = 10;
  if (text.size() >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() >= 2 && text[0] == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  uint64_t value = 0;
  for (char c : text) {
    const int digit = HexValue(c);
    if (digit < 0 || digit >= base) return {};
    // Too large for an address stays so.
    value = std::min(value * static_cast<uint64_t>(base) + static_cast<uint64_t>(digit),
                     uint64_t{1} << 40);
  }
  return value;
}

std::vector<std::string_view> SplitDots(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t dot = text.find('.');
    parts.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

struct SpecialRange {
  const char* network;
  const char* kind;
};

// Narrower ranges stand before the ranges that hold them.
constexpr SpecialRange kSpecial[] = {
    {"0.0.0.0/8", "unspecified"},
    {"10.0.0.0/8", "private"},
    {"100.100.100.200/32", "metadata"},
    {"100.64.0.0/10", "shared"},
    {"127.0.0.0/8", "loopback"},
    {"168.63.129.16/32", "metadata"},  // a cloud's host agent, on a public address
    {"169.254.169.254/32", "metadata"},
    {"169.254.170.2/32", "metadata"},
    {"169.254.0.0/16", "link-local"},
    {"172.16.0.0/12", "private"},
    {"192.0.0.192/32", "metadata"},
    {"192.0.0.0/24", "reserved"},
    {"192.0.2.0/24", "documentation"},
    {"192.88.99.0/24", "reserved"},
    {"192.168.0.0/16", "private"},
    {"198.18.0.0/15", "benchmarking"},
    {"198.51.100.0/24", "documentation"},
    {"203.0.113.0/24", "documentation"},
    {"224.0.0.0/4", "multicast"},
    {"240.0.0.0/4", "reserved"},
    {"::/128", "unspecified"},
    {"::1/128", "loopback"},
    {"::ffff:0:0/96", "ipv4-mapped"},
    {"::/96", "ipv4-compatible"},
    {"64:ff9b::/96", "nat64"},
    {"64:ff9b:1::/48", "nat64"},
    {"2001::/23", "reserved"},  // Teredo, ORCHID and other protocol assignments
    {"2001:db8::/32", "documentation"},
    {"2002::/16", "6to4"},
    {"3fff::/20", "documentation"},
    {"fd00:ec2::254/128", "metadata"},
    {"fc00::/7", "private"},
    {"fe80::/10", "link-local"},
    {"fec0::/10", "private"},
    {"ff00::/8", "multicast"},
};

}  // namespace

std::string IpAddress::ToString() const {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(v6 ? AF_INET6 : AF_INET, bytes.data(), text, sizeof text);
  return text;
}

std::optional<IpAddress> ParseIpv4(std::string_view text) { return Parse(AF_INET, text); }
std::optional<IpAddress> ParseIpv6(std::string_view text) { return Parse(AF_INET6, text); }

std::optional<IpAddress> ParseAddress(std::string_view text) {
  auto address = ParseIpv4(text);
  return address ? address : ParseIpv6(text);
}

std::optional<IpAddress> ParseIpv4Loose(std::string_view text) {
  if (!text.empty() && text.back() == '.') text.remove_suffix(1);
  const auto parts = SplitDots(text);
  if (parts.size() > 4) return {};
  uint64_t value = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto number = ParseNumber(parts[i]);
    if (!number) return {};
    const bool last = i + 1 == parts.size();
    const size_t bits = last ? 8 * (4 - i) : 8;  // the last part fills what the others leave
    if (*number >> bits != 0) return {};
    value |= *number << (last ? 0 : 24 - 8 * i);
  }
  return FromIpv4Value(static_cast<uint32_t>(value));
}

bool EndsInNumber(std::string_view host) {
  if (!host.empty() && host.back() == '.') host.remove_suffix(1);
  const std::string_view last = host.substr(host.rfind('.') + 1);  // npos + 1 is 0
  const bool digits = !last.empty() && std::all_of(last.begin(), last.end(), IsDigit);
  return digits || (last.size() >= 2 && last[0] == '0' && (last[1] == 'x' || last[1] == 'X') &&
                    ParseNumber(last).has_value());
}

bool Network::Contains(const IpAddress& other) const {
  if (address.v6 != other.v6) return false;
  for (int i = 0; i < bits; ++i) {
    const auto byte = static_cast<size_t>(i / 8);
    if (((address.bytes[byte] ^ other.bytes[byte]) >> (7 - i % 8) & 1) != 0) return false;
  }
  return true;
}

std::optional<Network> ParseNetwork(std::string_view text) {
  const size_t slash = text.find('/');
  const auto address = ParseAddress(text.substr(0, slash));
  if (!address) return {};
  const int most = address->v6 ? 128 : 32;
  if (slash == std::string_view::npos) return Network{*address, most};
  const std::string_view digits = text.substr(slash + 1);
  if (digits.empty() || digits.size() > 3) return {};
  int bits = 0;
  for (char c : digits) {
    if (!IsDigit(c)) return {};
    bits = bits * 10 + (c - '0');
  }
  if (bits > most) return {};
  return Network{*address, bits};
}

const char* SpecialKind(const IpAddress& address) {
  static const auto* const kTable = [] {
    auto* ranges =
        new std::vector<std::pair<Network, const char*>>;  // lives as long as the process
    for (const SpecialRange& range : kSpecial) {
      ranges->emplace_back(*ParseNetwork(range.network), range.kind);
    }
    return ranges;
  }();
  for (const auto& [network, kind] : *kTable) {
    if (network.Contains(address)) return kind;
  }
  // 2000::/3 is all that is assigned for global unicast.
  return address.v6 && address.bytes[0] >> 5 != 1 ? "reserved" : nullptr;
}

std::optional<IpAddress> EmbeddedIpv4(const IpAddress& address) {
  struct Form {
    Network network;
    size_t offset;  // of the IPv4 address, in bytes
  };
  static const Form kForms[] = {{*ParseNetwork("::ffff:0:0/96"), 12},
                                {*ParseNetwork("::/96"), 12},
                                {*ParseNetwork("64:ff9b::/96"), 12},
                                {*ParseNetwork("2002::/16"), 2}};
  static const Network kOwnNames = *ParseNetwork("::/127");  // unspecified and loopback
  if (kOwnNames.Contains(address)) return {};
  for (const Form& form : kForms) {
    if (!form.network.Contains(address)) continue;
    IpAddress inner;
    std::copy_n(address.bytes.begin() + form.offset, 4, inner.bytes.begin());
    return inner;
  }
  return {};
}

}  // namespace mmcpp::fetch
