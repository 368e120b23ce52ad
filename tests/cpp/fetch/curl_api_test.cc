// libcurl at run time: found once, and missed with a message that helps.
#include "fetch/curl_api.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace mmcpp::fetch {
namespace {

TEST(CurlApi, LoadsOnceFromManyThreads) {
  std::vector<const CurlApi*> seen(8);
  std::vector<std::thread> threads;
  for (const CurlApi*& api : seen) {
    threads.emplace_back([&api] {
      auto loaded = LoadCurl();
      if (loaded.ok()) api = *loaded;
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_NE(seen[0], nullptr) << "libcurl.so.4 is needed for these tests";
  for (const CurlApi* api : seen) EXPECT_EQ(api, seen[0]);
  EXPECT_GE(std::stoi(seen[0]->version), 7);
}

TEST(CurlApi, SaysWhatToInstall) {
  const auto absent = OpenCurl("libcurl-that-is-not-there.so.4");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(absent.error().message.find("apt-get install libcurl4"), std::string::npos);
  const auto other = OpenCurl("libm.so.6");  // a library, but not libcurl
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace mmcpp::fetch
