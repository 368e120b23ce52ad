// What the policy allows, and that it says so before it is too late.
#include "fetch/policy.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace mmcpp::fetch {
namespace {

Policy Compile(const FetchPolicy& policy) { return Policy::Compile(policy).value(); }

Status Check(const FetchPolicy& policy, const std::string& url, bool proxied = false) {
  return Compile(policy).CheckUrl(*ParseUrl(url), proxied);
}

TEST(Policy, DefaultRefusesEveryAddressThatIsNotPublic) {
  for (const char* host : {"127.0.0.1",
                           "127.1",
                           "2130706433",
                           "0x7f.1",
                           "017700000001",
                           "0",
                           "0.0.0.0",
                           "10.0.0.1",
                           "172.16.0.1",
                           "192.168.1.1",
                           "169.254.169.254",
                           "0xa9fea9fe",
                           "100.64.0.1",
                           "224.0.0.1",
                           "255.255.255.255",
                           "168.63.129.16",
                           "[::]",
                           "[::1]",
                           "[::ffff:127.0.0.1]",
                           "[::ffff:a9fe:a9fe]",
                           "[::127.0.0.1]",
                           "[64:ff9b::7f00:1]",
                           "[64:ff9b::a9fe:a9fe]",
                           "[2002:7f00:1::]",
                           "[2001:0:1::1]",
                           "[fd00:ec2::254]",
                           "[fe80::1]",
                           "[fc00::1]",
                           "[ff02::1]",
                           "[::ffff:8.8.8.8]"}) {
    const auto status = Check({}, std::string("http://") + host + "/");
    ASSERT_FALSE(status.ok()) << host;
    EXPECT_EQ(status.error().code, ErrorCode::kForbidden) << host;
    // Not behind a proxy either.
    EXPECT_FALSE(Check({}, std::string("https://") + host + ":8443/", true).ok()) << host;
  }
  for (const char* host : {"8.8.8.8", "[2606:4700::1111]", "example.com", "localhost"}) {
    // A name says nothing before it is looked up.
    EXPECT_TRUE(Check({}, std::string("http://") + host + "/").ok()) << host;
  }
}

TEST(Policy, OneBadAddressRefusesTheName) {
  const Policy policy = Compile({});
  const IpAddress good = *ParseAddress("8.8.8.8"), bad = *ParseAddress("10.0.0.5");
  EXPECT_TRUE(policy.CheckAddresses("h", {good}).ok());
  for (const auto& addresses : std::vector<std::vector<IpAddress>>{
           {bad}, {good, bad}, {bad, good}, {good, *ParseAddress("::1")}}) {
    const auto status = policy.CheckAddresses("h", addresses);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kForbidden);
    // Strangers are not told what a name of the private network resolves to.
    EXPECT_EQ(status.error().message.find("10.0.0.5"), std::string::npos);
  }
}

TEST(Policy, AllowedNetworksOpenNoMoreThanTheySay) {
  FetchPolicy policy;
  policy.allowed_networks = {"10.1.0.0/16", "::1"};
  EXPECT_TRUE(Check(policy, "http://10.1.2.3/").ok());
  EXPECT_TRUE(Check(policy, "http://[::1]/").ok());
  EXPECT_FALSE(Check(policy, "http://10.2.0.0/").ok());
  EXPECT_FALSE(Check(policy, "http://127.0.0.1/").ok());
  EXPECT_FALSE(Check(policy, "http://[::ffff:10.1.2.3]/").ok());
  EXPECT_FALSE(Check(policy, "http://[64:ff9b::a01:203]/").ok());
  // A form that carries an address needs both: its own network, and the address inside.
  policy.allowed_networks = {"64:ff9b::/96", "::ffff:0:0/96"};
  EXPECT_TRUE(Check(policy, "http://[64:ff9b::808:808]/").ok());
  EXPECT_TRUE(Check(policy, "http://[::ffff:8.8.8.8]/").ok());
  EXPECT_FALSE(Check(policy, "http://[64:ff9b::7f00:1]/").ok());
  EXPECT_FALSE(Check(policy, "http://[::ffff:127.0.0.1]/").ok());
  policy.allowed_networks.push_back("127.0.0.0/8");
  EXPECT_TRUE(Check(policy, "http://[64:ff9b::7f00:1]/").ok());
}

TEST(Policy, HostList) {
  FetchPolicy policy;
  policy.allowed_hosts = {"example.com", "*.cdn.example",     "ported.example:8443",
                          "8.8.8.8",     "[2606:4700::1111]", "BIG.example."};
  for (const char* url :
       {"http://example.com/", "https://EXAMPLE.COM:9000/", "http://example.com./",
        "http://a.cdn.example/", "http://a.b.cdn.example/", "https://ported.example:8443/",
        "http://8.8.8.8/", "http://134744072/", "http://[2606:4700:0::1111]/",
        "http://big.example/", "http://evil.org@example.com/"}) {
    EXPECT_TRUE(Check(policy, url).ok()) << url;
  }
  for (const char* url :
       {"http://sub.example.com/", "http://example.com.evil.org/", "http://notexample.com/",
        "http://cdn.example/", "http://xcdn.example/", "https://ported.example/",
        "http://example.com@evil.org/", "http://8.8.4.4/", "http://evil.org/?example.com",
        "http://evil.org/example.com", "http://evil.org#example.com"}) {
    const auto status = Check(policy, url);
    ASSERT_FALSE(status.ok()) << url;
    EXPECT_EQ(status.error().code, ErrorCode::kForbidden) << url;
  }
  // A listed host must still have an allowed address.
  policy.allowed_hosts = {"127.0.0.1"};
  EXPECT_FALSE(Check(policy, "http://127.0.0.1/").ok());
  policy.allowed_hosts->clear();  // a list was asked for, and nothing is on it
  EXPECT_FALSE(Check(policy, "http://example.com/").ok());
}

TEST(Policy, NamesOfPrivateNetworksAreNotForProxies) {
  for (const char* host :
       {"localhost", "intranet", "a.localhost", "printer.local", "metadata.google.internal",
        "box.lan", "router.home.arpa", "LOCALHOST."}) {
    EXPECT_FALSE(Check({}, std::string("http://") + host + "/", true).ok()) << host;
    FetchPolicy policy;
    policy.allowed_hosts = {host};
    EXPECT_TRUE(Check(policy, std::string("http://") + host + "/", true).ok()) << host;
  }
  EXPECT_TRUE(Check({}, "http://example.com/", true).ok());
}

TEST(Policy, Schemes) {
  FetchPolicy policy;
  policy.schemes = {"https", "data"};
  EXPECT_TRUE(Check(policy, "https://example.com/").ok());
  EXPECT_EQ(Check(policy, "http://example.com/").error().code, ErrorCode::kForbidden);
  EXPECT_TRUE(Compile(policy).CheckScheme("data").ok());
  EXPECT_FALSE(Compile(policy).CheckScheme("base64").ok());
  EXPECT_FALSE(Compile(policy).CheckScheme("file").ok());
}

std::string Refusal(const FetchPolicy& policy) {
  const auto compiled = Policy::Compile(policy);
  if (compiled.ok()) return "accepted";
  EXPECT_EQ(compiled.error().code, ErrorCode::kInvalidArgument);
  return compiled.error().message;
}

TEST(Policy, WhatMakesNoSenseIsNamed) {
  FetchPolicy policy;
  policy.schemes = {"HTTP"};
  EXPECT_NE(Refusal(policy).find("\"HTTP\""), std::string::npos);
  for (const char* host : {"", "http://a/", "a/b", "a@b", "*.", "*", "**.a", "*.1.2.3.4", "a b",
                           "::1", "a:0", "a?", "a#"}) {
    policy = {};
    policy.allowed_hosts = {host};
    EXPECT_NE(Refusal(policy).find('"' + std::string(host) + '"'), std::string::npos) << host;
  }
  for (const char* network : {"", "10/8", "10.0.0.0/33", "example.com", "[::1]"}) {
    policy = {};
    policy.allowed_networks = {network};
    EXPECT_NE(Refusal(policy).find("network"), std::string::npos) << network;
  }
  for (const char* root : {"", "tmp", "./tmp", "/nonexistent-folder-of-mmcpp"}) {
    policy = {};
    policy.file_roots = {root};
    EXPECT_NE(Refusal(policy).find("file root"), std::string::npos) << root;
  }
  policy = {};
  policy.max_redirects = -1;
  EXPECT_NE(Refusal(policy).find("max_redirects"), std::string::npos);
  for (double seconds : {-1.0, 1e9, std::numeric_limits<double>::quiet_NaN()}) {
    policy = {};
    policy.timeout_s = seconds;
    EXPECT_NE(Refusal(policy).find("timeout_s"), std::string::npos);
  }
}

TEST(Policy, Timeout) {
  using std::chrono::milliseconds;
  FetchPolicy policy;
  struct Case {
    const char* variable;
    int64_t expected;
  };
  for (const Case& c : std::vector<Case>{{nullptr, 3000},
                                         {"10", 10000},
                                         {"+2", 2000},
                                         {"0", 0},
                                         {"007", 7000},
                                         {"", 3000},
                                         {"+", 3000},
                                         {"abc", 3000},
                                         {"-1", 3000},
                                         {"1.5", 3000},
                                         {" 2 ", 3000},
                                         {"99999999999999999999", 86400000}}) {
    EXPECT_EQ(SourceTimeout(policy, c.variable), milliseconds(c.expected))
        << (c.variable ? c.variable : "unset");
  }
  policy.timeout_s = 0.25;
  EXPECT_EQ(SourceTimeout(policy, "10"), milliseconds(250));
}

}  // namespace
}  // namespace mmcpp::fetch
