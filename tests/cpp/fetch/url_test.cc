// The URL parser: what it reads, in which form it hands it on, and what it will not guess about.
#include "fetch/url.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mmcpp::fetch {
namespace {

TEST(Url, NormalForm) {
  struct Case {
    const char *text, *expected;
  };
  for (const Case& c : std::vector<Case>{
           {"http://example.com", "http://example.com/"},
           {"HTTP://EXAMPLE.com/A", "http://example.com/A"},
           {"https://example.com:443/", "https://example.com/"},
           {"http://example.com:443/", "http://example.com:443/"},
           {"http://example.com:/a", "http://example.com/a"},
           {"http://example.com:00080/a", "http://example.com/a"},
           {"http://example.com./a", "http://example.com/a"},
           {" \thttp://example.com/a \n", "http://example.com/a"},
           {"http://example.com?q=1", "http://example.com/?q=1"},
           {"http://example.com#f", "http://example.com/"},
           {"http://example.com/a?b#c", "http://example.com/a?b"},
           {"http://example.com/a b.png", "http://example.com/a%20b.png"},
           {"http://example.com/\xc3\xbc.png", "http://example.com/%C3%BC.png"},
           {"http://example.com/a?x=\"<>|", "http://example.com/a?x=%22%3C%3E%7C"},
           {"http://example.com/%41%zz", "http://example.com/%41%zz"},
           {"http://example.com/a/./b/../c", "http://example.com/a/c"},
           {"http://example.com/a/%2e%2E/b", "http://example.com/b"},
           {"http://example.com/../../a/..", "http://example.com/"},
           {"http://example.com/a/.", "http://example.com/a/"},
           {"http://example.com//a", "http://example.com//a"},
           {"http://example.com/a:b@c", "http://example.com/a:b@c"},
           {"http://example.com?@evil.org", "http://example.com/?@evil.org"},
           {"http://example.com#@evil.org", "http://example.com/"},
           {"http://user:p%40ss@example.com/", "http://example.com/"},
           {"http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"},
           {"http://a_b.example/", "http://a_b.example/"},
           {"http://2130706433/", "http://127.0.0.1/"},
           {"http://0x7f.1:8080/", "http://127.0.0.1:8080/"},
           {"http://127.1./", "http://127.0.0.1/"},
           {"http://0/", "http://0.0.0.0/"},
           {"http://[::1]/", "http://[::1]/"},
           {"http://[0:0:0:0:0:FFFF:7F00:1]:81/", "http://[::ffff:127.0.0.1]:81/"},
       }) {
    const auto url = ParseUrl(c.text);
    ASSERT_TRUE(url.ok()) << c.text << ": " << url.error().message;
    EXPECT_EQ(url->ToString(), c.expected) << c.text;
    // The normal form is a fixed point: reading it again changes nothing.
    EXPECT_EQ(ParseUrl(url->ToString())->ToString(), c.expected);
  }
}

TEST(Url, Parts) {
  const auto url = ParseUrl("https://us%65r:p:w%3A@Example.com:8443/a?b");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->credentials->user, "user");
  EXPECT_EQ(url->credentials->password, "p:w:");
  EXPECT_EQ(url->host, "example.com");
  EXPECT_EQ(url->port, 8443);
  EXPECT_TRUE(url->explicit_port);
  EXPECT_EQ(url->target, "/a?b");
  EXPECT_FALSE(url->address);
  EXPECT_TRUE(ParseUrl("http://user@h.example/")->credentials);
  EXPECT_FALSE(ParseUrl("http://@h.example/")->credentials);
  EXPECT_FALSE(ParseUrl("http://h.example:/")->explicit_port);
  EXPECT_EQ(ParseUrl("http://[::1]/")->host, "::1");
  EXPECT_TRUE(ParseUrl("http://[::1]/")->address);
}

TEST(Url, RefusesWhatParsersReadDifferently) {
  for (const std::string text : {
           "",
           "http",
           "http:",
           "http:/",
           "http://",
           "http:///a",
           "http:example.com",
           "http:/example.com",
           "ftp://example.com/",
           "//example.com/",
           "example.com",
           "javascript:alert(1)",
           "file:///etc/passwd",
           "://x",
           ":",
           "1http://x/",
           // whose host?
           "http://example.com\\@evil.org/",
           "http://evil.org\\.example.com/",
           "http:\\\\example.com/",
           "http://a@b@c/",
           "http://127.0.0.1@b@c/",
           "http://a:b@c@d/",
           "http://example.com\t@evil.org/",
           "http://exam\nple.com/",
           "http://example.com\r\nX: y/",
           "http://exa mple.com/",
           "http://example.com /",
           "http://example%2ecom/",
           "http://%31%32%37.0.0.1/",
           "http://example.com%00.evil.org/",
           "http://[::1]@evil.org]/",
           "http://[::1",
           "http://::1/",
           "http://[::1]x/",
           "http://[::1]]/",
           "http://[127.0.0.1]/",
           "http://[]/",
           "http://[fe80::1%25eth0]/",
           "http://[fe80::1%eth0]/",
           "http://[v1.x]/",
           "http://a:b:c/",
           "http://u:p@/",
           // names that are none
           "http://ex\xc3\xa4mple.com/",
           "http://\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1/",
           "http://a..b/",
           "http://.a/",
           "http://./",
           "http://a../",
           "http://a,b/",
           "http://a;b/",
           "http://*.a/",
           "http://<a>/",
           "http://a|b/",
           "http://a^b/",
           // numbers that are none
           "http://256.0.0.1/",
           "http://1.2.3.4.5/",
           "http://08.0.0.1/",
           "http://4294967296/",
           "http://a.1/",
           // ports
           "http://a:0/",
           "http://a:65536/",
           "http://a:99999/",
           "http://a:-1/",
           "http://a:+80/",
           "http://a:8o/",
           "http://a: 80/",
           "http://a:80:80/",
           "http://a:0x50/",
           "http://a:123456/",
           // credentials
           "http://us er@a/",
           "http://%zz@a/",
           "http://%00@a/",
           "http://u:%00@a/",
           "http://\xc3\xa4@a/",
           "http://u[@a/",
           // anywhere
           "http://a/b\\c",
           "http://a/\x01",
           "http://a/b\nc",
           "http://a/\x7f",
           "http://a/?\tx",
       }) {
    const auto url = ParseUrl(text);
    ASSERT_FALSE(url.ok()) << text << " read as " << url->ToString();
    EXPECT_EQ(url.error().code, ErrorCode::kBadSource) << text;
  }
  EXPECT_FALSE(ParseUrl(std::string("http://a/\0b", 11)).ok());
}

TEST(Url, LengthsHaveLimits) {
  EXPECT_FALSE(ParseUrl("http://" + std::string(64, 'a') + "/").ok());
  EXPECT_TRUE(ParseUrl("http://" + std::string(63, 'a') + "/").ok());
  std::string labels;
  for (int i = 0; i < 127; ++i) labels += "a.";
  EXPECT_TRUE(ParseUrl("http://" + labels + "/").ok());  // 253 and the root's dot
  EXPECT_FALSE(ParseUrl("http://" + labels + "ab/").ok());
  EXPECT_TRUE(ParseUrl("http://a/" + std::string(60000, 'a')).ok());
  EXPECT_FALSE(ParseUrl("http://a/" + std::string(70000, 'a')).ok());
}

TEST(Url, ResolvesReferences) {
  const Url base = *ParseUrl("http://user:pw@example.com:8080/a/b?q");
  struct Case {
    const char *reference, *expected;
    bool keeps_credentials;
  };
  for (const Case& c : std::vector<Case>{
           {"http://other.org/x", "http://other.org/x", false},
           {"https://example.com:8080/x", "https://example.com:8080/x", false},
           {"http://example.com/x", "http://example.com/x", false},
           {"http://example.com:8080/x", "http://example.com:8080/x", true},
           {"//other.org/x", "http://other.org/x", false},
           {"/x", "http://example.com:8080/x", true},
           {"x", "http://example.com:8080/a/x", true},
           {"../x", "http://example.com:8080/x", true},
           {"../../../x", "http://example.com:8080/x", true},
           {"?x", "http://example.com:8080/a/b?x", true},
           {"#x", "http://example.com:8080/a/b?q", true},
           {"", "http://example.com:8080/a/b?q", true},
           {" /x y ", "http://example.com:8080/x%20y", true},
           {"./x:y", "http://example.com:8080/a/x:y", true},
           {"/x?http://other.org", "http://example.com:8080/x?http://other.org", true},
       }) {
    const auto url = ResolveReference(base, c.reference);
    ASSERT_TRUE(url.ok()) << c.reference << ": " << url.error().message;
    EXPECT_EQ(url->ToString(), c.expected) << c.reference;
    EXPECT_EQ(url->credentials.has_value(), c.keeps_credentials) << c.reference;
  }
  for (const char* reference : {"file:///etc/passwd", "data:,x", "ftp://a/", "gopher://a/",
                                "FILE:/etc/passwd", "javascript:1", "x:y", "dict://a:11211/"}) {
    const auto url = ResolveReference(base, reference);
    ASSERT_FALSE(url.ok()) << reference;
    EXPECT_EQ(url.error().code, ErrorCode::kForbidden) << reference;
  }
  for (const char* reference : {"\\\\other.org/", "/\\other.org/", "http:other.org", "http:/x",
                                "//", "///x", "//a@b@c/", "/\x01", "http://[::1"}) {
    const auto url = ResolveReference(base, reference);
    ASSERT_FALSE(url.ok()) << reference;
    EXPECT_EQ(url.error().code, ErrorCode::kBadSource) << reference;
  }
}

}  // namespace
}  // namespace mmcpp::fetch
