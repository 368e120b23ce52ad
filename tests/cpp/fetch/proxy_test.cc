// Proxy decisions: equal to those of the Python package requests on a stored table, with named
// exceptions.
#include "fetch/proxy.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/golden.h"

namespace mmcpp::fetch {
namespace {

using nlohmann::json;

const json& Table() {
  static const json table = test::GoldenFile("proxy_decisions.json");
  return table;
}

std::string Decide(const json& variables, const std::string& url) {
  const Environment environment =
      [&variables](const std::string& name) -> std::optional<std::string> {
    if (!variables.contains(name)) return {};
    return variables[name].get<std::string>();
  };
  return DecideProxy(*ParseUrl(url), environment);
}

std::string TextOrEmpty(const json& value) {
  return value.is_null() ? "" : value.get<std::string>();
}

TEST(Proxy, DecisionsEqualRequests) {
  const json& cases = Table()["cases"];
  ASSERT_GE(cases.size(), 500u);
  int direct = 0;
  for (const json& c : cases) {
    const std::string expected = TextOrEmpty(c[2]);
    EXPECT_EQ(Decide(c[0], c[1].get<std::string>()), expected) << c.dump();
    direct += expected.empty();
  }
  // Both answers are common, so neither passes by default.
  EXPECT_GT(direct, 200);
  EXPECT_GT(static_cast<int>(cases.size()) - direct, 200);
}

TEST(Proxy, ExceptionsToRequestsAreExceptions) {
  for (const json& c : Table()["exceptions"]) {
    const std::string ours = Decide(c[0], c[1].get<std::string>());
    EXPECT_EQ(ours, TextOrEmpty(c[3])) << c.dump();
    EXPECT_NE(ours, TextOrEmpty(c[2])) << c.dump();
  }
}

TEST(Proxy, ReadsProxies) {
  const auto plain = ParseProxy("proxy.example:3128");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->ToString(), "http://proxy.example:3128");
  EXPECT_FALSE(plain->credentials);
  const auto full = ParseProxy(" https://us%40er:p%3Aw@[::1]:8443/ ");
  ASSERT_TRUE(full.ok());
  EXPECT_EQ(full->ToString(), "https://[::1]:8443");
  EXPECT_EQ(full->credentials->user, "us@er");
  EXPECT_EQ(full->credentials->password, "p:w");
  EXPECT_TRUE(full->address);
  EXPECT_EQ(ParseProxy("http://proxy.example")->port, 80);
  EXPECT_EQ(ParseProxy("https://proxy.example")->port, 443);
  for (const char* text :
       {"socks5://proxy:1080", "socks5h://proxy:1080", "ftp://proxy", "http://", "http://a b:1",
        "proxy:port", "http://user:secret@:80", "http:proxy:80"}) {
    const auto proxy = ParseProxy(text);
    ASSERT_FALSE(proxy.ok()) << text;
    EXPECT_EQ(proxy.error().code, ErrorCode::kFetchFailed);
    EXPECT_EQ(proxy.error().message.find("secret"), std::string::npos);
  }
}

TEST(Proxy, SnapshotStaysAsItWas) {
  setenv("https_proxy", "http://one:1", 1);
  const Environment environment = SnapshotEnvironment();
  setenv("https_proxy", "http://two:2", 1);
  EXPECT_EQ(environment("https_proxy"), "http://one:1");
  unsetenv("https_proxy");
  EXPECT_EQ(environment("https_proxy"), "http://one:1");
  EXPECT_EQ(SnapshotEnvironment()("https_proxy"), std::nullopt);
}

}  // namespace
}  // namespace mmcpp::fetch
