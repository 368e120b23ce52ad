// The group: redirects judged hop by hop, names that change their address, and many sources at
// once.
#include "fetch/group.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "fetch/group_support.h"

namespace mmcpp::fetch {
namespace {

using test::Connection;
using test::HttpServer;
using test::Shared;

std::string Path(const std::string& head) {
  const size_t start = head.find(' ') + 1;
  return head.substr(start, head.find(' ', start) - start);
}

TEST(Group, ClassifiesSources) {
  struct Case {
    const char* source;
    SourceKind kind;
  };
  for (const Case& c : std::vector<Case>{{"http://a", SourceKind::kHttp},
                                         {"HTTPS://a", SourceKind::kHttp},
                                         {"http:/a", SourceKind::kBase64},
                                         {"file:///a", SourceKind::kFile},
                                         {"File:a", SourceKind::kFile},
                                         {"/a", SourceKind::kFile},
                                         {"//a", SourceKind::kFile},
                                         {"data:,", SourceKind::kData},
                                         {"DATA:x", SourceKind::kData},
                                         {"ftp://a", SourceKind::kBase64},
                                         {"aGVsbG8=", SourceKind::kBase64},
                                         {"", SourceKind::kBase64}}) {
    EXPECT_EQ(Classify(c.source), c.kind) << c.source;
  }
}

TEST(Group, SourcesInMemory) {
  TestWorld world;
  EXPECT_EQ(world.Fetch(" aGVsbG8=\n"), "hello");
  EXPECT_EQ(world.Fetch("data:,hello"), "hello");
  EXPECT_EQ(world.Fetch(""), "");
  EXPECT_EQ(world.Fetch("ftp://example.com/a"),
            "bad_source: fetch: ftp is none of the schemes http, https, file and data");
  EXPECT_EQ(world.Fetch("relative/path.png").substr(0, 11), "bad_source:");
  world.policy.max_bytes = 5;
  EXPECT_EQ(world.Fetch("aGVsbG8="), "hello");
  EXPECT_EQ(world.Fetch("aGVsbG8h"), "limit_exceeded: fetch: more than 5 bytes");
  world.policy.max_bytes = 100;
  world.budget_bytes = 5;
  EXPECT_EQ(world.Fetch("aGVsbG8="), "hello");
  EXPECT_EQ(world.Fetch("aGVsbG8h"),
            "limit_exceeded: fetch: the request's sources take more than 5 bytes");
  world.policy.schemes = {"http"};
  EXPECT_EQ(world.Fetch("aGVsbG8="), "forbidden: policy: base64 sources are not allowed");
  EXPECT_EQ(world.Fetch("data:,a"), "forbidden: policy: data sources are not allowed");
}

TEST(Group, FollowsRedirects) {
  HttpServer other([](const std::string&, Connection& c) { c.SendBody("other"); });
  HttpServer server([&other](const std::string& head, Connection& c) {
    const std::string path = Path(head);
    if (path == "/relative") return void(c.Redirect("end?x", 301));
    if (path == "/slash") return void(c.Redirect("/end", 307));
    if (path == "/absolute") return void(c.Redirect(other.Url(), 308));
    if (path == "/see") return void(c.Redirect("/slash", 303));
    c.SendBody(path);
  });
  const TestWorld world;
  EXPECT_EQ(world.Fetch(server.Url("/relative")), "/end?x");
  EXPECT_EQ(world.Fetch(server.Url("/slash")), "/end");
  EXPECT_EQ(world.Fetch(server.Url("/absolute")), "other");
  EXPECT_EQ(world.Fetch(server.Url("/see")), "/end");
}

TEST(Group, RedirectsKeepTheConnection) {
  HttpServer server([](const std::string& head, Connection& c) {
    if (Path(head) == "/end") return void(c.SendBody("end"));
    c.Redirect("/end");
  });
  EXPECT_EQ(TestWorld().Fetch(server.Url()), "end");
  EXPECT_EQ(server.heads().size(), 2u);
  EXPECT_EQ(server.connections(), 1u);
}

TEST(Group, RedirectsAreCounted) {
  HttpServer server([](const std::string& head, Connection& c) {
    const int left = std::stoi(Path(head).substr(1));
    if (left == 0) return void(c.SendBody("end"));
    c.Redirect("/" + std::to_string(left - 1));
  });
  TestWorld world;
  EXPECT_EQ(world.Fetch(server.Url("/5")), "end");
  EXPECT_EQ(world.Fetch(server.Url("/6")),
            "fetch_failed: fetch: http://127.0.0.1: more than 5 redirects");
  world.policy.max_redirects = 0;
  EXPECT_EQ(world.Fetch(server.Url("/0")), "end");
  EXPECT_EQ(world.Fetch(server.Url("/1")),
            "fetch_failed: fetch: http://127.0.0.1: more than 0 redirects");
}

TEST(Group, RedirectLoopsEnd) {
  HttpServer server([](const std::string&, Connection& c) { c.Redirect("/"); });
  EXPECT_EQ(TestWorld().Fetch(server.Url()),
            "fetch_failed: fetch: http://127.0.0.1: more than 5 redirects");
  EXPECT_EQ(server.heads().size(), 6u);
}

TEST(Group, ARedirectIsJudgedLikeAFirstUrl) {
  Shared<std::string> location;
  HttpServer victim([](const std::string&, Connection& c) { c.SendBody("victim"); }, "127.0.0.2");
  HttpServer server([&location](const std::string&, Connection& c) { c.Redirect(location.get()); });
  TestWorld world;
  world.policy.allowed_networks = {"127.0.0.1"};
  world.resolve = [](const std::string& host) -> Result<std::vector<IpAddress>> {
    return std::vector<IpAddress>{*ParseAddress(host == "victim.test" ? "127.0.0.2" : "8.8.8.8")};
  };
  const std::string port = ":" + std::to_string(victim.port()) + "/";
  for (const std::string& target :
       {"http://127.0.0.2" + port, "http://127.2" + port, "http://2130706434" + port,
        "http://0x7f000002" + port, "//127.0.0.2" + port, "http://[::ffff:127.0.0.2]" + port,
        "http://victim.test" + port, "http://user@127.0.0.2" + port,
        std::string("http://169.254.169.254/latest/meta-data/"), std::string("http://[::1]/"),
        std::string("http://10.0.0.1/"), std::string("file:///etc/passwd"),
        std::string("FILE:///etc/passwd"), std::string("data:,x"), std::string("ftp://127.0.0.1/"),
        std::string("gopher://127.0.0.1/")}) {
    location = target;
    const std::string answer = world.Fetch(server.Url());
    EXPECT_EQ(answer.substr(0, 10), "forbidden:") << target << ": " << answer;
  }
  for (const std::string& target :
       {"http://127.0.0.1\\@127.0.0.2" + port, "http://127.0.0.1@x@127.0.0.2" + port,
        "\\\\127.0.0.2" + port, "/\\127.0.0.2" + port, std::string("http://"),
        std::string("http:///x")}) {
    location = target;
    const std::string answer = world.Fetch(server.Url());
    EXPECT_EQ(answer.substr(0, 11), "bad_source:") << target << ": " << answer;
  }
  location = "http:127.0.0.2" + port;
  EXPECT_EQ(world.Fetch(server.Url()).substr(0, 11), "bad_source:");
  EXPECT_EQ(victim.connections(), 0u);
}

TEST(Group, ARedirectMustKeepToTheHostList) {
  HttpServer server([](const std::string&, Connection& c) { c.Redirect("http://other.test/"); });
  TestWorld world;
  world.policy.allowed_hosts = {"127.0.0.1"};
  std::atomic<int> lookups{0};
  world.resolve = [&lookups](const std::string&) -> Result<std::vector<IpAddress>> {
    ++lookups;
    return std::vector<IpAddress>{*ParseAddress("127.0.0.1")};
  };
  EXPECT_EQ(world.Fetch(server.Url()),
            "forbidden: policy: host other.test is not on the list of allowed hosts");
  EXPECT_EQ(lookups, 0);  // not even looked up
}

TEST(Group, ARedirectMustKeepToTheSchemes) {
  HttpServer server([](const std::string&, Connection& c) { c.Redirect("http://127.0.0.1/"); });
  TestWorld world;
  world.policy.schemes = {"https"};
  EXPECT_EQ(world.Fetch(server.Url()), "forbidden: policy: http sources are not allowed");
  EXPECT_EQ(server.connections(), 0u);
}

TEST(Group, ARedirectWithoutLocationFails) {
  HttpServer server([](const std::string&, Connection& c) {
    c.Send("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n");
  });
  EXPECT_EQ(TestWorld().Fetch(server.Url()),
            "fetch_failed: fetch: http://127.0.0.1: a redirect that says not where");
}

TEST(Group, NamesAreResolvedOnceAndPinned) {
  HttpServer victim([](const std::string&, Connection& c) { c.SendBody("victim"); }, "127.0.0.2");
  HttpServer server([](const std::string&, Connection& c) { c.SendBody("public"); });
  TestWorld world;
  world.policy.allowed_networks = {"127.0.0.1"};  // stands for the public network here
  std::atomic<int> lookups{0};
  // The classic rebinding server: an allowed address first, the victim's afterwards.
  world.resolve = [&lookups](const std::string& host) -> Result<std::vector<IpAddress>> {
    EXPECT_EQ(host, "rebind.test");
    return std::vector<IpAddress>{*ParseAddress(lookups++ == 0 ? "127.0.0.1" : "127.0.0.2")};
  };
  const std::string url = "http://rebind.test:" + std::to_string(server.port()) + "/";
  EXPECT_EQ(world.Fetch(url), "public");
  EXPECT_EQ(lookups, 1);
  // The name, not the address, is what the server is asked for.
  EXPECT_TRUE(Contains(server.heads().at(0), "\r\nHost: rebind.test:"));
  // A new look-up is a new judgement.
  EXPECT_EQ(world.Fetch(url),
            "forbidden: policy: rebind.test has an address that is not allowed (loopback)");
  EXPECT_EQ(victim.connections(), 0u);
}

TEST(Group, ARedirectToTheSameNameUsesTheCheckedAddress) {
  std::atomic<int> lookups{0};
  HttpServer server([](const std::string& head, Connection& c) {
    if (Path(head) == "/end") return void(c.SendBody("end"));
    c.Send(
        "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\nLocation: /end\r\n\r\n");
    c.Close();  // a new connection is needed
  });
  TestWorld world;
  world.policy.allowed_networks = {"127.0.0.1"};
  world.resolve = [&lookups](const std::string&) -> Result<std::vector<IpAddress>> {
    return std::vector<IpAddress>{*ParseAddress(lookups++ == 0 ? "127.0.0.1" : "127.0.0.2")};
  };
  EXPECT_EQ(world.Fetch("http://rebind.test:" + std::to_string(server.port()) + "/"), "end");
  EXPECT_EQ(server.connections(), 2u);
  EXPECT_EQ(lookups, 1);
}

TEST(Group, MixedAnswersAreRefused) {
  HttpServer server([](const std::string&, Connection& c) { c.SendBody("x"); });
  TestWorld world;
  world.policy.allowed_networks = {"127.0.0.1"};
  for (const auto& answers :
       std::vector<std::vector<const char*>>{{"127.0.0.1", "10.0.0.1"},
                                             {"10.0.0.1", "127.0.0.1"},
                                             {"::1", "127.0.0.1"},
                                             {"127.0.0.1", "::ffff:127.0.0.1"},
                                             {"127.0.0.1", "fd00::1"}}) {
    world.resolve = [&answers](const std::string&) -> Result<std::vector<IpAddress>> {
      std::vector<IpAddress> addresses;
      for (const char* answer : answers) addresses.push_back(*ParseAddress(answer));
      return addresses;
    };
    const std::string answer =
        world.Fetch("http://mixed.test:" + std::to_string(server.port()) + "/");
    EXPECT_EQ(answer.substr(0, 10), "forbidden:") << answer;
  }
  EXPECT_EQ(server.connections(), 0u);
}

TEST(Group, SeveralAddressesAreTriedInTurn) {
  HttpServer server([](const std::string&, Connection& c) { c.SendBody("x"); });
  TestWorld world;
  world.resolve = [](const std::string&) -> Result<std::vector<IpAddress>> {
    return std::vector<IpAddress>{*ParseAddress("127.0.0.9"), *ParseAddress("127.0.0.1")};
  };
  EXPECT_EQ(world.Fetch("http://two.test:" + std::to_string(server.port()) + "/"), "x");
}

TEST(Group, UnderTheDefaultPolicyNothingOnThisMachineIsConnectedTo) {
  HttpServer server([](const std::string&, Connection& c) { c.SendBody("secret"); });
  TestWorld world;
  world.policy = FetchPolicy();
  world.resolve = [](const std::string&) -> Result<std::vector<IpAddress>> {
    return std::vector<IpAddress>{*ParseAddress("127.0.0.1")};
  };
  const std::string port = ":" + std::to_string(server.port()) + "/";
  for (const char* host : {"127.0.0.1",
                           "127.1",
                           "127.0.1",
                           "2130706433",
                           "0x7f000001",
                           "0x7f.0x0.0x0.0x1",
                           "017700000001",
                           "0177.0.0.1",
                           "0",
                           "0.0.0.0",
                           "127.0.0.1.",
                           "localhost",
                           "LOCALHOST",
                           "localhost.",
                           "name.test",
                           "example.com@127.0.0.1",
                           "[::1]",
                           "[::]",
                           "[::ffff:127.0.0.1]",
                           "[::ffff:7f00:1]",
                           "[::127.0.0.1]",
                           "[64:ff9b::7f00:1]",
                           "[2002:7f00:1::]",
                           "127.127.127.127"}) {
    const std::string answer = world.Fetch("http://" + std::string(host) + port);
    EXPECT_EQ(answer.substr(0, 10), "forbidden:") << host << ": " << answer;
  }
  EXPECT_EQ(server.connections(), 0u);
}

TEST(Group, AProxyIsNoWayAround) {
  HttpServer proxy([](const std::string& head, Connection& c) {
    if (Contains(head, "first.example")) return void(c.Redirect("http://10.0.0.1/"));
    c.SendBody("proxied");
  });
  TestWorld world;
  world.policy = FetchPolicy();
  world.variables["ALL_PROXY"] = "127.0.0.1:" + std::to_string(proxy.port());
  EXPECT_EQ(world.Fetch("http://picture.example/"), "proxied");
  EXPECT_EQ(world.Fetch("http://first.example/").substr(0, 10), "forbidden:");
  const size_t heads = proxy.heads().size();
  for (const char* host : {"127.0.0.1", "10.0.0.1", "[::1]", "0x7f.1", "169.254.169.254",
                           "localhost", "metadata.google.internal", "router"}) {
    EXPECT_EQ(world.Fetch("http://" + std::string(host) + "/").substr(0, 10), "forbidden:") << host;
  }
  EXPECT_EQ(proxy.heads().size(), heads);
  // NO_PROXY leads back to the address policy.
  world.variables["no_proxy"] = "direct.example";
  world.resolve = [](const std::string&) -> Result<std::vector<IpAddress>> {
    return std::vector<IpAddress>{*ParseAddress("127.0.0.1")};
  };
  EXPECT_EQ(world.Fetch("http://direct.example/").substr(0, 10), "forbidden:");
}

TEST(Group, AProxyByNameIsLookedUpAndNotJudged) {
  HttpServer proxy([](const std::string&, Connection& c) { c.SendBody("proxied"); });
  TestWorld world;
  world.policy = FetchPolicy();
  world.variables["http_proxy"] = "http://proxy.corp:" + std::to_string(proxy.port());
  world.resolve = [](const std::string& host) -> Result<std::vector<IpAddress>> {
    EXPECT_EQ(host, "proxy.corp");
    return std::vector<IpAddress>{*ParseAddress("127.0.0.1")};
  };
  EXPECT_EQ(world.Fetch("http://picture.example/"), "proxied");
  world.variables["http_proxy"] = "socks5://127.0.0.1:1080";
  EXPECT_EQ(world.Fetch("http://picture.example/").substr(0, 20), "fetch_failed: proxy:");
}

TEST(Group, EnvironmentVariablesOfLibcurlItselfAreIgnored) {
  HttpServer trap([](const std::string&, Connection& c) { c.SendBody("trap"); });
  HttpServer server([](const std::string&, Connection& c) { c.SendBody("direct"); });
  const std::string proxy = "http://127.0.0.1:" + std::to_string(trap.port());
  for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) {
    setenv(name, proxy.c_str(), 1);
  }
  EXPECT_EQ(TestWorld().Fetch(server.Url()), "direct");
  for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) unsetenv(name);
  EXPECT_EQ(trap.connections(), 0u);
}

TEST(Group, AHangingLookupEndsAtTheDeadline) {
  std::atomic<bool> release{false}, left{false};
  TestWorld world;
  world.timeout = std::chrono::milliseconds(150);
  world.resolve = [&](const std::string&) -> Result<std::vector<IpAddress>> {
    while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    left = true;
    return std::vector<IpAddress>{};
  };
  EXPECT_EQ(world.Fetch("http://slow.test/"),
            "fetch_failed: fetch: http://slow.test: timed out resolving the host");
  release = true;
  while (!left) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(Group, TheDeadlineCoversAllRedirects) {
  HttpServer server([](const std::string&, Connection& c) {
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    c.Redirect("/");
  });
  TestWorld world;
  world.timeout = std::chrono::milliseconds(300);
  world.policy.max_redirects = 1000;
  EXPECT_EQ(world.Fetch(server.Url()), "fetch_failed: fetch: http://127.0.0.1: timed out");
  EXPECT_LE(server.heads().size(), 4u);
}

TEST(Group, ManySourcesComeInOrder) {
  HttpServer server([](const std::string& head, Connection& c) {
    // The later ones answer first.
    std::this_thread::sleep_for(std::chrono::milliseconds(60 - std::stoi(Path(head).substr(1))));
    c.SendBody(Path(head));
  });
  TestWorld world;
  world.max_concurrent = 8;
  std::vector<std::string> sources;
  for (int i = 0; i < 40; ++i) {
    sources.push_back(i % 5 == 4 ? "data:,%2f" + std::to_string(i)
                                 : server.Url("/" + std::to_string(i)));
  }
  const auto all = world.FetchAll(sources);
  ASSERT_TRUE(all.ok()) << all.error().message;
  ASSERT_EQ(all->size(), sources.size());
  for (size_t i = 0; i < all->size(); ++i) {
    const Buffer& buffer = (*all)[i];
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(buffer.data()), buffer.size()),
              "/" + std::to_string(i));
  }
  // Connections are reused, and never more at a time than allowed.
  EXPECT_LE(server.connections(), 8u);
}

TEST(Group, TheFirstFailureEndsTheOthers) {
  std::atomic<bool> cancelled{false};
  HttpServer server([&cancelled](const std::string& head, Connection& c) {
    if (Path(head) == "/bad") {
      c.Send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    cancelled = c.ClosedWithin(20000);
    c.Close();
  });
  ByteBudget budget(1000);
  const TestWorld world;
  {
    Group group(Policy::Compile(world.policy).value(), world.Make(), &budget, 16);
    group.Add("data:,hello");
    group.Add(server.Url("/slow"));
    group.Add(server.Url("/bad"));
    while (!group.Poll(std::chrono::seconds(1))) {
    }
    const auto all = group.Take();
    ASSERT_FALSE(all.ok());
    EXPECT_EQ(all.error().item, 2);
    EXPECT_EQ(all.error().message, "fetch: http://127.0.0.1: status code 404");
    EXPECT_EQ(budget.left(), 1000u);  // what the others had taken is given back
  }
  for (int i = 0; i < 2000 && !cancelled; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(cancelled);
}

TEST(Group, TheBudgetIsShared) {
  HttpServer server([](const std::string&, Connection& c) { c.SendBody(std::string(400, 'x')); });
  TestWorld world;
  world.budget_bytes = 1200;
  EXPECT_TRUE(world.FetchAll({server.Url(), server.Url(), server.Url()}).ok());
  world.budget_bytes = 1199;
  const auto all = world.FetchAll({server.Url(), server.Url(), server.Url()});
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.error().code, ErrorCode::kLimitExceeded);
}

TEST(Group, PollDoesNotWaitWhenToldNotTo) {
  std::atomic<bool> release{false};
  HttpServer server([&release](const std::string&, Connection& c) {
    while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    c.SendBody("x");
  });
  ByteBudget budget(1000);
  const TestWorld world;
  Group group(Policy::Compile(world.policy).value(), world.Make(), &budget, 16);
  group.Add(server.Url());
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(group.Poll(std::chrono::milliseconds(0)));
  release = true;
  while (!group.Poll(std::chrono::milliseconds(10))) {
  }
  EXPECT_EQ(group.Take()->at(0).size(), 1u);
}

}  // namespace
}  // namespace mmcpp::fetch
