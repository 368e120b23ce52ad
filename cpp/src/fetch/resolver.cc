// Name look-ups on threads of their own.
#include "fetch/resolver.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/ensure.h"

namespace mmcpp::fetch {
namespace {

// Look-ups outlive the fetch that gave up on them, so a broken name server could gather threads.
constexpr int kMaxLookups = 64;
std::atomic<int> lookups_under_way{0};

std::optional<IpAddress> FromSockaddr(const sockaddr* address) {
  IpAddress result;
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    std::memcpy(result.bytes.data(), &v4->sin_addr, 4);
    return result;
  }
  if (address->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    std::memcpy(result.bytes.data(), &v6->sin6_addr, 16);
    result.v6 = true;
    return result;
  }
  return {};
}

}  // namespace

Result<std::vector<IpAddress>> SystemResolve(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  const int failed = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (failed != 0)
    return FetchFailed("fetch: cannot resolve " + host + ": " + gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  std::vector<IpAddress> addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    const auto address = FromSockaddr(entry->ai_addr);
    if (address && std::find(addresses.begin(), addresses.end(), *address) == addresses.end()) {
      addresses.push_back(*address);
    }
  }
  if (addresses.empty()) return FetchFailed("fetch: " + host + " has no address");
  return addresses;
}

WakePipe::WakePipe() {
  if (pipe2(ends_, O_CLOEXEC | O_NONBLOCK) != 0) ends_[0] = ends_[1] = -1;
}

WakePipe::~WakePipe() {
  for (const int end : ends_) {
    if (end >= 0) close(end);
  }
}

void WakePipe::Wake() const {
  const char byte = 0;
  // A full pipe wakes as well as one byte does.
  if (ends_[1] >= 0 && write(ends_[1], &byte, 1) < 0) return;
}

void WakePipe::Drain() const {
  char bytes[64];
  while (ends_[0] >= 0 && read(ends_[0], bytes, sizeof bytes) > 0) {
  }
}

struct Lookup::State {
  std::mutex mutex;
  std::optional<Result<std::vector<IpAddress>>> result;
};

Lookup::Lookup(std::shared_ptr<State> state) : state_(std::move(state)) {}

Result<Lookup> Lookup::Start(const std::string& host, const ResolveFunction& resolve,
                             std::shared_ptr<const WakePipe> wake) {
  if (lookups_under_way.fetch_add(1) >= kMaxLookups) {
    lookups_under_way.fetch_sub(1);
    return FetchFailed("fetch: " + std::to_string(kMaxLookups) + " name look-ups are under way");
  }
  auto state = std::make_shared<State>();
  try {
    std::thread([state, host, resolve, wake = std::move(wake)] {
      auto result = resolve(host);
      {
        const std::lock_guard<std::mutex> lock(state->mutex);
        state->result = std::move(result);
      }
      wake->Wake();
      lookups_under_way.fetch_sub(1);
    }).detach();
  } catch (const std::system_error&) {
    lookups_under_way.fetch_sub(1);
    return FetchFailed("fetch: no thread for a name look-up");
  }
  return Lookup(std::move(state));
}

bool Lookup::done() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->result.has_value();
}

Result<std::vector<IpAddress>> Lookup::Take() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return *std::move(state_->result);
}

}  // namespace mmcpp::fetch
