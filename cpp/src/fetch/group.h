// The loop behind FetchGroup: sources in, hops out, one policy and one budget over all of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fetch/curl_api.h"
#include "fetch/policy.h"
#include "fetch/proxy.h"
#include "fetch/resolver.h"
#include "fetch/sink.h"
#include "fetch/transfer.h"
#include "mmcpp/fetch.h"

namespace mmcpp::fetch {

enum class SourceKind : uint8_t { kHttp, kFile, kData, kBase64 };

/// What a source is, from how it begins; blanks at its ends are trimmed before.
SourceKind Classify(std::string_view source);

/// The bytes of a source that needs no network; charged to the budget.
Result<Buffer> ReadLocalSource(std::string_view source, const Policy& policy, ByteBudget* budget);

/// What the world outside gives: replaced in tests.
struct World {
  ResolveFunction resolve = SystemResolve;
  Environment environment;
  std::chrono::milliseconds timeout{3000};
};

class Group {
 public:
  /// `budget` must outlive the group.
  Group(Policy policy, World world, ByteBudget* budget, size_t max_concurrent);
  ~Group();

  size_t Add(std::string source);
  bool Poll(std::chrono::milliseconds wait);
  void Cancel(Error reason);
  bool done() const { return failure_.has_value() || finished_ == items_.size(); }

  /// Once done; the error is that of the first failure, its item set.
  Result<std::vector<Buffer>> Take();

 private:
  using Clock = std::chrono::steady_clock;

  struct Item {
    std::string source;
    std::unique_ptr<Sink> sink;
    Clock::time_point deadline;
    Url url;
    std::optional<Proxy> proxy;
    int redirects = 0;
    bool waits_for_name = false;
    std::unique_ptr<Transfer> transfer;
    Buffer bytes;
  };
  // A name is looked up once per group: what was checked is what every hop to it connects to.
  struct Name {
    std::optional<Lookup> lookup;
    std::optional<Result<std::vector<IpAddress>>> result;
  };

  void Advance();
  void Block(std::chrono::milliseconds wait);
  void Fail(size_t index, Error error);
  void Drop();

  Status Begin(Item* item);
  Status BeginHop(Item* item);
  Status OpenMulti();
  Status AskForName(Item* item, const std::string& host);
  Status ConnectWhenNamed(Item* item);
  Status Connect(Item* item, std::vector<IpAddress> addresses);
  void TakeAnswers();
  Status Finish(Item* item, CURLcode code);

  const Policy policy_;
  const World world_;
  ByteBudget* const budget_;
  const size_t max_concurrent_;

  const CurlApi* api_ = nullptr;
  CURLM* multi_ = nullptr;
  std::shared_ptr<const WakePipe> wake_;
  std::map<std::string, Name> names_;
  std::vector<std::unique_ptr<Item>> items_;
  size_t begun_ = 0, finished_ = 0;
  std::optional<Error> failure_;
};

}  // namespace mmcpp::fetch
