// Drives transfers on the caller's thread: each source goes from look-up to connection to answer,
// redirects start over with a new judgement, and the first failure ends all.
#include "fetch/group.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/ensure.h"
#include "fetch/file.h"
#include "mmcpp/source.h"

namespace mmcpp::fetch {
namespace {

// "ftp" of "ftp://host": no base64 has a colon, so such a text was meant as a URL.
std::string_view ForeignScheme(std::string_view source) {
  const size_t end = source.substr(0, 32).find("://");
  if (end == std::string_view::npos) return {};
  const std::string_view scheme = source.substr(0, end);
  return std::all_of(scheme.begin(), scheme.end(), IsAlnum) ? scheme : std::string_view();
}

Result<Buffer> Decode(std::string_view source, bool data_url, const Policy& policy,
                      ByteBudget* budget) {
  const uint64_t max_bytes = policy.options().max_bytes;
  const uint64_t left = budget->left();
  SourceOptions options;
  options.max_bytes = std::min(max_bytes, left);
  options.url_safe = policy.options().url_safe_base64;
  auto decoded = data_url ? DecodeDataUrl(source, options) : DecodeBase64(source, options);
  if (!decoded.ok()) {
    const bool limit = decoded.error().code == ErrorCode::kLimitExceeded;
    if (limit) return left < max_bytes ? BudgetSpent(budget->size()) : SourceTooLarge(max_bytes);
    return decoded;
  }
  if (!budget->Take(decoded->size())) return BudgetSpent(budget->size());
  return decoded;
}

bool IsRedirect(long status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

std::string Origin(const Url& url) { return url.scheme + "://" + url.BracketedHost(); }

}  // namespace

SourceKind Classify(std::string_view source) {
  const std::string start = LowerAscii(source.substr(0, 8));
  if (StartsWith(start, "http://") || StartsWith(start, "https://")) return SourceKind::kHttp;
  if (StartsWith(start, "file:") || StartsWith(start, "/")) return SourceKind::kFile;
  if (StartsWith(start, "data:")) return SourceKind::kData;
  return SourceKind::kBase64;
}

Result<Buffer> ReadLocalSource(std::string_view source, const Policy& policy, ByteBudget* budget) {
  switch (Classify(source)) {
    case SourceKind::kFile: {
      MMCPP_ASSIGN(const std::string path, FilePath(source));
      Sink sink(policy.options().max_bytes, budget);
      MMCPP_TRY(ReadFile(path, policy, &sink));
      return sink.Take();
    }
    case SourceKind::kData:
      MMCPP_TRY(policy.CheckScheme("data"));
      return Decode(source, true, policy, budget);
    case SourceKind::kBase64: {
      const std::string_view foreign = ForeignScheme(source);
      if (!foreign.empty()) {
        return BadSource("fetch: " + std::string(foreign) +
                         " is none of the schemes http, https, file and data");
      }
      MMCPP_TRY(policy.CheckScheme("base64"));
      return Decode(source, false, policy, budget);
    }
    case SourceKind::kHttp:
      break;
  }
  return Error{ErrorCode::kInternal, "fetch: not a local source"};
}

Group::Group(Policy policy, World world, ByteBudget* budget, size_t max_concurrent)
    : policy_(std::move(policy)),
      world_(std::move(world)),
      budget_(budget),
      max_concurrent_(std::max<size_t>(1, max_concurrent)) {}

Group::~Group() {
  Drop();
  if (multi_ != nullptr) api_->multi_cleanup(multi_);
}

size_t Group::Add(std::string source) {
  items_.push_back(std::make_unique<Item>());
  items_.back()->source = std::move(source);
  return items_.size() - 1;
}

bool Group::Poll(std::chrono::milliseconds wait) {
  Advance();
  if (!done() && wait.count() > 0) {
    Block(wait);
    Advance();
  }
  return done();
}

void Group::Cancel(Error reason) {
  if (done()) return;
  failure_ = std::move(reason);
  Drop();
}

Result<std::vector<Buffer>> Group::Take() {
  if (failure_) return *failure_;
  std::vector<Buffer> all;
  all.reserve(items_.size());
  for (const auto& item : items_) all.push_back(std::move(item->bytes));
  return all;
}

void Group::Fail(size_t index, Error error) {
  if (failure_) return;
  error.item = static_cast<int>(index);
  failure_ = std::move(error);
  Drop();
}

// Ends every transfer and gives the bytes back.
void Group::Drop() {
  for (const auto& item : items_) {
    item->transfer.reset();
    item->sink.reset();
    budget_->Return(item->bytes.size());
    item->bytes = Buffer();
  }
}

void Group::Advance() {
  if (done()) return;
  while (begun_ < items_.size() && begun_ - finished_ < max_concurrent_) {
    const size_t index = begun_++;
    if (auto begun = Begin(items_[index].get()); !begun.ok()) {
      return Fail(index, std::move(begun).error());
    }
  }
  if (multi_ == nullptr) return;
  wake_->Drain();
  for (size_t i = 0; i < begun_; ++i) {
    if (!items_[i]->waits_for_name) continue;
    if (auto connected = ConnectWhenNamed(items_[i].get()); !connected.ok()) {
      return Fail(i, std::move(connected).error());
    }
  }
  int running = 0;
  if (api_->multi_perform(multi_, &running) != CURLM_OK) {
    return Fail(0, {ErrorCode::kInternal, "fetch: libcurl fails"});
  }
  TakeAnswers();
}

void Group::Block(std::chrono::milliseconds wait) {
  if (multi_ == nullptr) return;  // nothing but sources in memory, of which more are to begin
  for (const auto& item : items_) {
    if (!item->waits_for_name) continue;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(item->deadline - Clock::now());
    wait = std::min(wait, std::max(left, std::chrono::milliseconds(0)));
  }
  curl_waitfd wake{};
  wake.fd = wake_->read_end();
  wake.events = CURL_WAIT_POLLIN;
  constexpr int kLongest = 1000;  // curl's own timers end it earlier
  const auto timeout = static_cast<int>(std::min<int64_t>(wait.count(), kLongest));
  api_->multi_poll(multi_, &wake, wake.fd >= 0 ? 1 : 0, timeout, nullptr);
}

Status Group::Begin(Item* item) {
  const std::string_view source = TrimBlanks(item->source);
  if (Classify(source) != SourceKind::kHttp) {
    MMCPP_ASSIGN(item->bytes, ReadLocalSource(source, policy_, budget_));
    item->source.clear();
    ++finished_;
    return Ok{};
  }
  item->deadline = Clock::now() + world_.timeout;
  item->sink = std::make_unique<Sink>(policy_.options().max_bytes, budget_);
  MMCPP_ASSIGN(item->url, ParseUrl(source));
  return BeginHop(item);
}

Status Group::BeginHop(Item* item) {
  const std::string proxy = DecideProxy(item->url, world_.environment);
  MMCPP_TRY(policy_.CheckUrl(item->url, !proxy.empty()));
  item->proxy.reset();
  if (!proxy.empty()) {
    MMCPP_ASSIGN(item->proxy, ParseProxy(proxy));
  }
  MMCPP_TRY(OpenMulti());
  const auto& address = item->proxy ? item->proxy->address : item->url.address;
  if (address) return Connect(item, {*address});
  return AskForName(item, item->proxy ? item->proxy->host : item->url.host);
}

Status Group::OpenMulti() {
  if (multi_ != nullptr) return Ok{};
  MMCPP_ASSIGN(api_, LoadCurl());
  wake_ = std::make_shared<const WakePipe>();
  multi_ = api_->multi_init();
  if (multi_ == nullptr) return Error{ErrorCode::kOutOfMemory, "fetch: libcurl has no memory"};
  return Ok{};
}

Status Group::AskForName(Item* item, const std::string& host) {
  Name& name = names_[host];
  if (!name.lookup && !name.result) {
    MMCPP_ASSIGN(name.lookup, Lookup::Start(host, world_.resolve, wake_));
  }
  item->waits_for_name = true;
  return ConnectWhenNamed(item);
}

Status Group::ConnectWhenNamed(Item* item) {
  const std::string& host = item->proxy ? item->proxy->host : item->url.host;
  Name& name = names_[host];
  if (!name.result && name.lookup->done()) name.result = name.lookup->Take();
  if (!name.result) {
    if (Clock::now() < item->deadline) return Ok{};
    return FetchFailed("fetch: " + Origin(item->url) + ": timed out resolving " +
                       (item->proxy ? "the proxy" : "the host"));
  }
  item->waits_for_name = false;
  if (!name.result->ok()) return name.result->error();
  // The proxy is the operator's choice; where it connects to is not ours to see.
  if (!item->proxy) MMCPP_TRY(policy_.CheckAddresses(host, **name.result));
  return Connect(item, **name.result);
}

Status Group::Connect(Item* item, std::vector<IpAddress> addresses) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(item->deadline - Clock::now());
  if (left.count() <= 0) return FetchFailed("fetch: " + Origin(item->url) + ": timed out");
  item->transfer.reset();
  MMCPP_ASSIGN(item->transfer, Transfer::Start(api_, multi_,
                                               {item->url, item->proxy, std::move(addresses), left,
                                                policy_.options().ca_file},
                                               item->sink.get()));
  return Ok{};
}

void Group::TakeAnswers() {
  int left = 0;
  while (const CURLMsg* message = api_->multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    for (size_t i = 0; i < begun_; ++i) {
      Item* item = items_[i].get();
      if (!item->transfer || item->transfer->handle() != message->easy_handle) continue;
      if (auto finished = Finish(item, code); !finished.ok()) {
        return Fail(i, std::move(finished).error());
      }
      break;
    }
  }
}

Status Group::Finish(Item* item, CURLcode code) {
  MMCPP_ASSIGN(const Answer answer, item->transfer->Finish(code));
  item->transfer.reset();
  if (answer.status / 100 == 2) {
    item->bytes = item->sink->Take();
    item->sink.reset();
    ++finished_;
    return Ok{};
  }
  const std::string where = "fetch: " + Origin(item->url) + ": ";
  if (!IsRedirect(answer.status)) {
    return FetchFailed(where + "status code " + std::to_string(answer.status));
  }
  if (!answer.location) return FetchFailed(where + "a redirect that says not where");
  const int most = policy_.options().max_redirects;
  if (++item->redirects > most) {
    return FetchFailed(where + "more than " + std::to_string(most) + " redirects");
  }
  MMCPP_ASSIGN(item->url, ResolveReference(item->url, *answer.location));
  return BeginHop(item);
}

}  // namespace mmcpp::fetch
