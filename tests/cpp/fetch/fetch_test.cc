// The public interface of fetching.
#include "mmcpp/fetch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/http_server.h"

namespace mmcpp {
namespace {

using test::Connection;
using test::HttpServer;
using test::Shared;

FetchPolicy Loopback() {
  FetchPolicy policy;
  policy.allowed_networks = {"127.0.0.0/8"};
  policy.environment_proxies = false;
  policy.timeout_s = 20;
  return policy;
}

std::string Text(const Buffer& buffer) {
  return std::string(reinterpret_cast<const char*>(buffer.data()), buffer.size());
}

TEST(Fetch, OneSource) {
  HttpServer server([](const std::string&, Connection& c) { c.SendBody("body"); });
  EXPECT_EQ(Text(Fetch(server.Url(), Loopback()).value()), "body");
  EXPECT_EQ(Text(Fetch(" " + server.Url() + "\n", Loopback()).value()), "body");
  EXPECT_EQ(Text(Fetch("data:;base64,aGVsbG8=").value()), "hello");
  EXPECT_EQ(Text(Fetch("aGVsbG8=").value()), "hello");
}

TEST(Fetch, TheDefaultPolicyKeepsOffThisMachine) {
  HttpServer server([](const std::string&, Connection& c) { c.SendBody("body"); });
  for (const std::string& source :
       {server.Url(), std::string("/etc/hostname"), std::string("file:///etc/hostname")}) {
    const auto bytes = Fetch(source);
    ASSERT_FALSE(bytes.ok()) << source;
    EXPECT_EQ(bytes.error().code, ErrorCode::kForbidden) << source;
    EXPECT_EQ(bytes.error().item, -1);
  }
  // Looked up for real this time.
  EXPECT_EQ(Fetch("http://localhost:" + std::to_string(server.port()) + "/").error().code,
            ErrorCode::kForbidden);
  EXPECT_EQ(server.connections(), 0u);
}

TEST(Fetch, SixtyFourMebibytesExactly) {
  const size_t limit = size_t{64} << 20;
  Shared<size_t> size(limit);
  HttpServer server(
      [&size](const std::string&, Connection& c) { c.SendBody(std::string(size.get(), 'x')); });
  const auto whole = Fetch(server.Url(), Loopback());
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  EXPECT_EQ(whole->size(), limit);
  size = limit + 1;
  EXPECT_EQ(Fetch(server.Url(), Loopback()).error().code, ErrorCode::kLimitExceeded);
}

TEST(Fetch, CanBeCancelled) {
  HttpServer server([](const std::string&, Connection& c) {
    c.ClosedWithin(20000);
    c.Close();
  });
  int asked = 0;
  const auto bytes = Fetch(server.Url(), Loopback(), [&asked] { return ++asked == 2; });
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().message, "fetch: cancelled");
  EXPECT_EQ(asked, 2);
}

TEST(Fetch, ReadsTheTimeoutVariable) {
  HttpServer server([](const std::string&, Connection& c) {
    c.ClosedWithin(20000);
    c.Close();
  });
  FetchPolicy policy = Loopback();
  policy.timeout_s.reset();
  setenv("REQUEST_TIMEOUT", "0", 1);
  const auto bytes = Fetch(server.Url(), policy);
  unsetenv("REQUEST_TIMEOUT");
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().message, "fetch: http://127.0.0.1: timed out");
}

TEST(Fetch, ReadsTheProxyVariablesWhenAsked) {
  HttpServer proxy([](const std::string&, Connection& c) { c.SendBody("proxied"); });
  setenv("http_proxy", ("127.0.0.1:" + std::to_string(proxy.port())).c_str(), 1);
  EXPECT_EQ(Text(Fetch("http://picture.example/").value()), "proxied");
  FetchPolicy policy;
  policy.environment_proxies = false;
  policy.allowed_hosts = std::vector<std::string>{};
  EXPECT_EQ(Fetch("http://picture.example/", policy).error().code, ErrorCode::kForbidden);
  unsetenv("http_proxy");
  EXPECT_EQ(proxy.heads().size(), 1u);
}

TEST(Fetch, PoliciesThatMakeNoSenseAreTheCallersFault) {
  FetchPolicy policy;
  policy.allowed_networks = {"everything"};
  EXPECT_EQ(Fetch("data:,x", policy).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(FetchGroup::Create(policy).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(CheckFetchPolicy(policy).error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(CheckFetchPolicy({}).ok());
}

TEST(FetchGroup, GivesAllInOrder) {
  HttpServer server([](const std::string& head, Connection& c) {
    c.SendBody(head.substr(4, head.find(' ', 4) - 4));
  });
  auto group = FetchGroup::Create(Loopback());
  ASSERT_TRUE(group.ok());
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(group->Start(server.Url("/" + std::to_string(i))), i);
  }
  FetchGroup moved = *std::move(group);
  const auto all = moved.Wait();
  ASSERT_TRUE(all.ok()) << all.error().message;
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(Text((*all)[i]), "/" + std::to_string(i));
}

TEST(FetchGroup, NamesTheSourceThatFailed) {
  auto group = FetchGroup::Create({});
  ASSERT_TRUE(group.ok());
  group->Start("data:,x");
  group->Start("http://10.0.0.1/");
  const auto all = group->Wait();
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.error().item, 1);
  EXPECT_EQ(all.error().message,
            "source 1: policy: 10.0.0.1 has an address that is not allowed (private)");
}

TEST(FetchGroup, CancelEndsIt) {
  HttpServer server([](const std::string&, Connection& c) {
    c.ClosedWithin(20000);
    c.Close();
  });
  auto group = FetchGroup::Create(Loopback());
  ASSERT_TRUE(group.ok());
  group->Start(server.Url());
  EXPECT_FALSE(group->Poll(std::chrono::milliseconds(20)));
  group->Cancel();
  EXPECT_TRUE(group->Poll(std::chrono::milliseconds(0)));
  const auto all = group->Wait();
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.error().code, ErrorCode::kFetchFailed);
  EXPECT_EQ(all.error().message, "fetch: cancelled");
}

TEST(FetchGroup, SharesTheCallersBudget) {
  ByteBudget budget(10);
  FetchGroup::Options options;
  options.budget = &budget;
  auto group = FetchGroup::Create({}, options);
  ASSERT_TRUE(group.ok());
  group->Start("data:,12345");
  EXPECT_TRUE(group->Wait().ok());
  EXPECT_EQ(budget.left(), 5u);
  auto next = FetchGroup::Create({}, options);
  next->Start("data:,123456");
  EXPECT_EQ(next->Wait().error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(budget.left(), 5u);
}

TEST(Fetch, ManyThreadsAtOnce) {
  HttpServer server([](const std::string&, Connection& c) { c.SendBody("body"); });
  std::vector<std::thread> threads;
  std::vector<int> good(8);
  for (int& count : good) {
    threads.emplace_back([&count, &server] {
      for (int i = 0; i < 10; ++i) {
        const auto bytes = Fetch(server.Url(), Loopback());
        count += bytes.ok() && bytes->size() == 4;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : good) EXPECT_EQ(count, 10);
}

}  // namespace
}  // namespace mmcpp
