// Look-ups beside the caller's thread: answers, patience that ends, and a bound on how many there
// are.
#include "fetch/resolver.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace mmcpp::fetch {
namespace {

bool WokenWithin(const WakePipe& wake, int milliseconds) {
  pollfd fd{wake.read_end(), POLLIN, 0};
  return poll(&fd, 1, milliseconds) > 0;
}

TEST(Resolver, ALookupWakesAndGivesItsAnswer) {
  const auto wake = std::make_shared<const WakePipe>();
  auto lookup = Lookup::Start(
      "name.test",
      [](const std::string& host) -> Result<std::vector<IpAddress>> {
        EXPECT_EQ(host, "name.test");
        return std::vector<IpAddress>{*ParseAddress("8.8.8.8")};
      },
      wake);
  ASSERT_TRUE(lookup.ok());
  ASSERT_TRUE(WokenWithin(*wake, 10000));
  ASSERT_TRUE(lookup->done());
  EXPECT_EQ(lookup->Take()->at(0).ToString(), "8.8.8.8");
  wake->Drain();
  EXPECT_FALSE(WokenWithin(*wake, 0));
}

TEST(Resolver, TheSystemKnowsLocalhostAndNotInvalid) {
  const auto local = SystemResolve("localhost");
  ASSERT_TRUE(local.ok());
  for (const IpAddress& address : *local) EXPECT_STREQ(SpecialKind(address), "loopback");
  const auto numeric = SystemResolve("192.0.2.1");
  ASSERT_TRUE(numeric.ok());
  EXPECT_EQ(numeric->at(0).ToString(), "192.0.2.1");
  const auto empty = SystemResolve("a..b");  // refused without asking a name server
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().code, ErrorCode::kFetchFailed);
}

TEST(Resolver, LookupsThatHangAreBounded) {
  std::mutex mutex;
  std::condition_variable released;
  bool release = false;
  std::atomic<int> finished{0};
  const ResolveFunction hang = [&](const std::string&) -> Result<std::vector<IpAddress>> {
    std::unique_lock<std::mutex> lock(mutex);
    released.wait(lock, [&] { return release; });
    return std::vector<IpAddress>{};
  };
  const auto wake = std::make_shared<const WakePipe>();
  std::vector<Lookup> lookups;
  bool refused = false;
  for (int i = 0; i < 100 && !refused; ++i) {
    auto lookup = Lookup::Start("name.test", hang, wake);
    refused = !lookup.ok();
    if (refused) {
      EXPECT_EQ(lookup.error().code, ErrorCode::kFetchFailed);
    } else {
      EXPECT_FALSE(lookup->done());
      lookups.push_back(*std::move(lookup));
    }
  }
  EXPECT_TRUE(refused);
  EXPECT_GE(lookups.size(), 32u);
  {
    const std::lock_guard<std::mutex> lock(mutex);
    release = true;
    released.notify_all();
  }
  // The threads use this frame; wait for each.
  for (const Lookup& lookup : lookups) {
    while (!lookup.done()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace
}  // namespace mmcpp::fetch
