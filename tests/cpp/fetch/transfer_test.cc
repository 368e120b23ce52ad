// One request over HTTP against a server on loopback: what is sent, what is taken, what is refused.
#include "fetch/transfer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>

#include "fetch/group_support.h"

namespace mmcpp::fetch {
namespace {

using test::Connection;
using test::HttpServer;
using test::Shared;

TEST(Transfer, SendsOnePlainGet) {
  HttpServer server([](const std::string&, Connection& c) { c.SendBody("body"); });
  EXPECT_EQ(TestWorld().Fetch(server.Url("/a b?q=1#f")), "body");
  ASSERT_EQ(server.heads().size(), 1u);
  const std::string head = server.heads()[0];
  EXPECT_EQ(head.substr(0, head.find('\r')), "GET /a%20b?q=1 HTTP/1.1");
  EXPECT_TRUE(Contains(head, "\r\nHost: 127.0.0.1:" + std::to_string(server.port()) + "\r\n"));
  EXPECT_TRUE(Contains(head, "\r\nUser-Agent: mmcpp/"));
  EXPECT_TRUE(Contains(head, "\r\nAccept: */*\r\n"));
  EXPECT_TRUE(Contains(head, "\r\nAccept-Encoding: gzip\r\n"));
  EXPECT_FALSE(Contains(head, "Authorization"));
}

TEST(Transfer, SendsCredentialsOfTheUrl) {
  HttpServer server([](const std::string&, Connection& c) { c.SendBody("x"); });
  const std::string at = "127.0.0.1:" + std::to_string(server.port()) + "/";
  TestWorld().Fetch("http://user:p%40ss@" + at);
  // "user:p@ss"
  EXPECT_TRUE(Contains(server.heads().at(0), "\r\nAuthorization: Basic dXNlcjpwQHNz\r\n"));
}

TEST(Transfer, TakesEveryKindOfBody) {
  Shared<std::string> reply;
  HttpServer server([&reply](const std::string&, Connection& c) {
    c.Send(reply.get());
    c.Close();
  });
  const std::string gzip(
      "\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36"
      "\x05\0\0\0",
      25);  // "hello"
  struct Case {
    std::string reply, expected;
  };
  for (const Case& c : std::vector<Case>{
           {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello"},
           {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""},
           {"HTTP/1.1 204 No Content\r\n\r\n", ""},
           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
            "hello"},
           {"HTTP/1.0 200 OK\r\n\r\nhello", "hello"},  // until the connection ends
           {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            "hello"},
           {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n" + gzip,
            "hello"},
           {"HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\n\r\nhello", "hello"},
       }) {
    reply = c.reply;
    EXPECT_EQ(TestWorld().Fetch(server.Url()), c.expected) << c.reply;
  }
}

TEST(Transfer, RefusesWhatIsNotWhole) {
  Shared<std::string> reply;
  HttpServer server([&reply](const std::string&, Connection& c) {
    c.Send(reply.get());
    c.Close();
  });
  for (const std::string& text : {
           std::string("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello"),
           std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello"),
           std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n"),
           std::string(
               "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"),
           std::string(
               "HTTP/1.1 200 OK\r\nContent-Encoding: rot13\r\nContent-Length: 5\r\n\r\nhello"),
           std::string("HTTP/1.1 200 OK\r\nContent-Le"),
           std::string("hello"),
           std::string(""),
       }) {
    reply = text;
    EXPECT_EQ(TestWorld().Fetch(server.Url()).substr(0, 13), "fetch_failed:") << text;
  }
}

TEST(Transfer, StatusesThatAreNoSuccessAreNamed) {
  Shared<int> status;
  HttpServer server([&status](const std::string&, Connection& c) {
    c.Send("HTTP/1.1 " + std::to_string(status.get()) + " X\r\nContent-Length: 3\r\n\r\nbad");
  });
  for (int s : {300, 304, 305, 400, 401, 403, 404, 407, 408, 410, 429, 500, 502, 503}) {
    status = s;
    EXPECT_EQ(TestWorld().Fetch(server.Url()),
              "fetch_failed: fetch: http://127.0.0.1: status code " + std::to_string(s));
  }
}

TEST(Transfer, LimitIsExactWhetherTheLengthIsToldOrNot) {
  Shared<size_t> size;
  Shared<bool> tell;
  HttpServer server([&](const std::string&, Connection& c) {
    const std::string body(size.get(), 'x');
    if (tell.get()) {
      c.SendBody(body);
    } else {
      c.Send("HTTP/1.1 200 OK\r\n\r\n" + body);
      c.Close();
    }
  });
  TestWorld world;
  world.policy.max_bytes = 300'000;
  for (bool told : {false, true}) {
    tell = told;
    size = 300'000;
    EXPECT_EQ(world.Fetch(server.Url()).size(), 300'000u);
    size = 300'001;
    EXPECT_EQ(world.Fetch(server.Url()), "limit_exceeded: fetch: more than 300000 bytes");
  }
}

TEST(Transfer, AnEndlessBodyIsCutAtTheLimit) {
  std::atomic<bool> stopped{false};
  HttpServer server([&stopped](const std::string&, Connection& c) {
    c.Send("HTTP/1.1 200 OK\r\n\r\n");
    const std::string piece(1 << 16, 'x');
    while (c.Send(piece)) {
    }
    stopped = true;
  });
  TestWorld world;
  world.policy.max_bytes = 1 << 20;
  EXPECT_EQ(world.Fetch(server.Url()), "limit_exceeded: fetch: more than 1048576 bytes");
  for (int i = 0; i < 1000 && !stopped; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(stopped);
}

TEST(Transfer, EndlessHeadersAreCut) {
  HttpServer server([](const std::string&, Connection& c) {
    c.Send("HTTP/1.1 200 OK\r\n");
    const std::string header = "X-Filler: " + std::string(4000, 'x') + "\r\n";
    while (c.Send(header)) {
    }
  });
  const std::string answer = TestWorld().Fetch(server.Url());
  // libcurl's own limit may be met first.
  EXPECT_TRUE(Contains(answer, "limit_exceeded: fetch: more than 262144 bytes of headers") ||
              Contains(answer, "fetch_failed: "))
      << answer;
}

TEST(Transfer, ADripFeedEndsAtTheDeadline) {
  HttpServer server([](const std::string&, Connection& c) {
    c.Send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
    while (c.Send("x") && !c.ClosedWithin(20)) {
    }
    c.Close();
  });
  TestWorld world;
  world.timeout = std::chrono::milliseconds(300);
  EXPECT_EQ(world.Fetch(server.Url()), "fetch_failed: fetch: http://127.0.0.1: timed out");
}

TEST(Transfer, SilenceEndsAtTheDeadline) {
  HttpServer server([](const std::string&, Connection& c) {
    c.ClosedWithin(60000);
    c.Close();
  });
  TestWorld world;
  world.timeout = std::chrono::milliseconds(200);
  EXPECT_EQ(world.Fetch(server.Url()), "fetch_failed: fetch: http://127.0.0.1: timed out");
  world.timeout = std::chrono::milliseconds(0);
  EXPECT_EQ(world.Fetch(server.Url()), "fetch_failed: fetch: http://127.0.0.1: timed out");
}

TEST(Transfer, ARefusedConnectionFails) {
  int port;
  {
    HttpServer server([](const std::string&, Connection&) {});
    port = server.port();
  }
  const std::string answer = TestWorld().Fetch("http://127.0.0.1:" + std::to_string(port) + "/");
  EXPECT_EQ(answer.substr(0, 38), "fetch_failed: fetch: http://127.0.0.1:");
}

TEST(Transfer, HttpProxiesGetTheWholeUrlAndTheirCredentials) {
  HttpServer proxy([](const std::string&, Connection& c) { c.SendBody("proxied"); });
  TestWorld world;
  world.policy.allowed_networks.clear();  // the proxy is the operator's, whatever its address
  world.variables["http_proxy"] = "http://us%65r:pw@127.0.0.1:" + std::to_string(proxy.port());
  EXPECT_EQ(world.Fetch("http://picture.example/a?b"), "proxied");
  const std::string head = proxy.heads().at(0);
  EXPECT_EQ(head.substr(0, head.find('\r')), "GET http://picture.example/a?b HTTP/1.1");
  EXPECT_TRUE(Contains(head, "\r\nHost: picture.example\r\n"));
  EXPECT_TRUE(Contains(head, "\r\nProxy-Authorization: Basic dXNlcjpwdw==\r\n"));
  EXPECT_FALSE(Contains(head, "\r\nAuthorization:"));
}

TEST(Transfer, HttpsGoesThroughATunnel) {
  HttpServer proxy([](const std::string&, Connection& c) {
    c.Send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nLocation: http://evil.example/\r\n\r\n");
  });
  TestWorld world;
  world.variables["https_proxy"] = "http://user:pw@127.0.0.1:" + std::to_string(proxy.port());
  const std::string answer = world.Fetch("https://picture.example/a");
  EXPECT_EQ(answer.substr(0, 13), "fetch_failed:") << answer;
  const std::string head = proxy.heads().at(0);
  EXPECT_EQ(head.substr(0, head.find('\r')), "CONNECT picture.example:443 HTTP/1.1");
  EXPECT_TRUE(Contains(head, "\r\nProxy-Authorization: Basic dXNlcjpwdw==\r\n"));
  EXPECT_EQ(proxy.heads().size(), 1u);
}

}  // namespace
}  // namespace mmcpp::fetch
