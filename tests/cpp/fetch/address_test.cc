// Addresses: every notation that a URL may hold, and which ones no request is sent to.
#include "fetch/address.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mmcpp::fetch {
namespace {

TEST(Address, LooseIpv4IsReadAsBrowsersDo) {
  struct Case {
    const char *text, *expected;
  };
  for (const Case& c : std::vector<Case>{{"127.0.0.1", "127.0.0.1"},
                                         {"127.1", "127.0.0.1"},
                                         {"127.0.1", "127.0.0.1"},
                                         {"0", "0.0.0.0"},
                                         {"1", "0.0.0.1"},
                                         {"2130706433", "127.0.0.1"},
                                         {"0x7f000001", "127.0.0.1"},
                                         {"0X7F.1", "127.0.0.1"},
                                         {"017700000001", "127.0.0.1"},
                                         {"0177.0.0.01", "127.0.0.1"},
                                         {"0x7f.0.0.0x1", "127.0.0.1"},
                                         {"0x", "0.0.0.0"},
                                         {"010.0.0.1", "8.0.0.1"},
                                         {"10.65535", "10.0.255.255"},
                                         {"10.1.65535", "10.1.255.255"},
                                         {"4294967295", "255.255.255.255"},
                                         {"169.254.169.254.", "169.254.169.254"}}) {
    const auto address = ParseIpv4Loose(c.text);
    ASSERT_TRUE(address) << c.text;
    EXPECT_EQ(address->ToString(), c.expected) << c.text;
  }
  for (const char* text : {"", ".", "1.2.3.4.5", "256.0.0.1", "1.2.3.256", "1.2.65536",
                           "4294967296", "08", "0x1g", "1..2", "1.2.3.4..", "a.1", "-1",
                           "99999999999999999999999999", "0x1ffffffff", "1.2.3.-4"}) {
    EXPECT_FALSE(ParseIpv4Loose(text)) << text;
  }
}

TEST(Address, KnowsHostsThatEndInNumbers) {
  for (const char* host : {"1", "127.1", "a.1", "1.2.3.4.5", "0x7f", "a.0X1", "1.", "256", "09"}) {
    EXPECT_TRUE(EndsInNumber(host)) << host;
  }
  for (const char* host : {"", "a", "1.a", "example.com", "0xg", "1.2.3.4a", "127-0-0-1", "."}) {
    EXPECT_FALSE(EndsInNumber(host)) << host;
  }
}

TEST(Address, StrictForms) {
  EXPECT_TRUE(ParseIpv4("1.2.3.4"));
  for (const char* text : {"", "1.2.3", "01.2.3.4", "1.2.3.4 ", "0x1.2.3.4", "::1"}) {
    EXPECT_FALSE(ParseIpv4(text)) << text;
  }
  EXPECT_EQ(ParseIpv6("2001:DB8:0:0:0:0:0:1")->ToString(), "2001:db8::1");
  EXPECT_EQ(ParseIpv6("::ffff:7f00:1")->ToString(), "::ffff:127.0.0.1");
  for (const char* text : {"", ":", "1.2.3.4", "[::1]", "::1%lo", "1::2::3", "12345::"}) {
    EXPECT_FALSE(ParseIpv6(text)) << text;
  }
  EXPECT_FALSE(ParseIpv6(std::string("::1\0x", 5)));
}

TEST(Address, NetworksContain) {
  EXPECT_TRUE(ParseNetwork("10.1.2.3/8")->Contains(*ParseAddress("10.255.0.1")));
  EXPECT_FALSE(ParseNetwork("10.0.0.0/8")->Contains(*ParseAddress("11.0.0.0")));
  EXPECT_TRUE(ParseNetwork("192.168.1.64/26")->Contains(*ParseAddress("192.168.1.127")));
  EXPECT_FALSE(ParseNetwork("192.168.1.64/26")->Contains(*ParseAddress("192.168.1.128")));
  EXPECT_TRUE(ParseNetwork("0.0.0.0/0")->Contains(*ParseAddress("8.8.8.8")));
  EXPECT_FALSE(ParseNetwork("0.0.0.0/0")->Contains(*ParseAddress("::1")));
  EXPECT_TRUE(ParseNetwork("fd00::/8")->Contains(*ParseAddress("fdff::1")));
  EXPECT_TRUE(ParseNetwork("::1")->Contains(*ParseAddress("::1")));
  EXPECT_FALSE(ParseNetwork("::1")->Contains(*ParseAddress("::2")));
  for (const char* text : {"", "10.0.0.0/", "10.0.0.0/33", "::/129", "10/8", "10.0.0.0/-1",
                           "10.0.0.0/8/8", "a/8", "10.0.0.0/+8", "10.0.0.0/1234"}) {
    EXPECT_FALSE(ParseNetwork(text)) << text;
  }
}

TEST(Address, SpecialRangesAndTheirEdges) {
  struct Case {
    const char *address, *kind;  // nullptr: globally reachable
  };
  for (const Case& c : std::vector<Case>{
           {"0.0.0.0", "unspecified"},
           {"0.255.255.255", "unspecified"},
           {"1.0.0.0", nullptr},
           {"9.255.255.255", nullptr},
           {"10.0.0.0", "private"},
           {"10.255.255.255", "private"},
           {"11.0.0.0", nullptr},
           {"100.63.255.255", nullptr},
           {"100.64.0.0", "shared"},
           {"100.127.255.255", "shared"},
           {"100.100.100.200", "metadata"},
           {"100.128.0.0", nullptr},
           {"126.255.255.255", nullptr},
           {"127.0.0.1", "loopback"},
           {"127.255.255.255", "loopback"},
           {"128.0.0.0", nullptr},
           {"168.63.129.16", "metadata"},
           {"168.63.129.17", nullptr},
           {"169.253.255.255", nullptr},
           {"169.254.0.1", "link-local"},
           {"169.254.169.254", "metadata"},
           {"169.254.170.2", "metadata"},
           {"169.255.0.0", nullptr},
           {"172.15.255.255", nullptr},
           {"172.16.0.0", "private"},
           {"172.31.255.255", "private"},
           {"172.32.0.0", nullptr},
           {"192.0.0.1", "reserved"},
           {"192.0.0.192", "metadata"},
           {"192.0.1.0", nullptr},
           {"192.0.2.1", "documentation"},
           {"192.88.99.1", "reserved"},
           {"192.167.255.255", nullptr},
           {"192.168.0.1", "private"},
           {"192.169.0.0", nullptr},
           {"198.18.0.1", "benchmarking"},
           {"198.19.255.255", "benchmarking"},
           {"198.20.0.0", nullptr},
           {"198.51.100.1", "documentation"},
           {"203.0.113.1", "documentation"},
           {"223.255.255.255", nullptr},
           {"224.0.0.1", "multicast"},
           {"239.255.255.255", "multicast"},
           {"240.0.0.1", "reserved"},
           {"255.255.255.255", "reserved"},
           {"8.8.8.8", nullptr},
           {"::", "unspecified"},
           {"::1", "loopback"},
           {"::2", "ipv4-compatible"},
           {"::ffff:127.0.0.1", "ipv4-mapped"},
           {"::ffff:8.8.8.8", "ipv4-mapped"},
           {"64:ff9b::7f00:1", "nat64"},
           {"64:ff9b:1::1", "nat64"},
           {"64:ff9b:2::1", "reserved"},
           {"100::1", "reserved"},
           {"1fff::1", "reserved"},
           {"2000::1", nullptr},
           {"2001::1", "reserved"},
           {"2001:1ff::1", "reserved"},
           {"2001:200::1", nullptr},
           {"2001:db8::1", "documentation"},
           {"2001:4860:4860::8888", nullptr},
           {"2002:7f00:1::", "6to4"},
           {"2606:4700::1111", nullptr},
           {"3fff::1", "documentation"},
           {"3fff:1000::1", nullptr},
           {"4000::1", "reserved"},
           {"fc00::1", "private"},
           {"fd00:ec2::254", "metadata"},
           {"fdff::1", "private"},
           {"fe80::1", "link-local"},
           {"febf::1", "link-local"},
           {"fec0::1", "private"},
           {"ff02::1", "multicast"},
       }) {
    const auto address = ParseAddress(c.address);
    ASSERT_TRUE(address) << c.address;
    const char* const kind = SpecialKind(*address);
    if (c.kind == nullptr) {
      EXPECT_EQ(kind, nullptr) << c.address;
    } else {
      EXPECT_STREQ(kind, c.kind) << c.address;
    }
  }
}

TEST(Address, FindsTheIpv4Inside) {
  EXPECT_EQ(EmbeddedIpv4(*ParseAddress("::ffff:10.1.2.3"))->ToString(), "10.1.2.3");
  EXPECT_EQ(EmbeddedIpv4(*ParseAddress("::10.1.2.3"))->ToString(), "10.1.2.3");
  EXPECT_EQ(EmbeddedIpv4(*ParseAddress("64:ff9b::a01:203"))->ToString(), "10.1.2.3");
  EXPECT_EQ(EmbeddedIpv4(*ParseAddress("2002:a01:203::1"))->ToString(), "10.1.2.3");
  EXPECT_FALSE(EmbeddedIpv4(*ParseAddress("2606:4700::1111")));
  EXPECT_FALSE(EmbeddedIpv4(*ParseAddress("10.1.2.3")));
}

}  // namespace
}  // namespace mmcpp::fetch
