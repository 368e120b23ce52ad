// Sources from outside: http(s), local files, data: URLs and base64 to bytes, under a policy that
// decides first. Target mmcpp::fetch; the library proper does no network or file access.
//
// libcurl is opened when the first http(s) source is fetched (libcurl.so.4); without it such a
// source fails with kUnsupported and everything else works.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mmcpp/export.h"
#include "mmcpp/status.h"
#include "mmcpp/tensor.h"

namespace mmcpp {

/// What may be fetched. The default is for sources that strangers send: public web addresses and
/// sources in memory, no files.
struct FetchPolicy {
  /// Of "http", "https", "file", "data", "base64"; a redirect must keep to them. "file" needs
  /// file_roots too.
  std::vector<std::string> schemes = {"http", "https", "file", "data", "base64"};

  /// Hosts of http(s) URLs; unset allows all, empty none. "example.org" is that host,
  /// "*.example.org" its subdomains, "example.org:8443" the host on that port; IPv6 in brackets.
  /// A host on this list must still have an allowed address.
  std::optional<std::vector<std::string>> allowed_hosts;

  /// Networks such as "10.1.0.0/16" or "fd00::/8" that are allowed although they are not public.
  /// Every other address that is not globally reachable is refused: private, loopback, link-local,
  /// metadata, shared (CGNAT), multicast, documentation, reserved. Forms that carry an IPv4
  /// address (IPv4-mapped, 6to4, NAT64) need their own entry, and their IPv4 address must be
  /// allowed as well.
  std::vector<std::string> allowed_networks;

  /// Folders below which files may be read, as absolute paths; symbolic links are followed first.
  /// None by default.
  std::vector<std::string> file_roots;

  uint64_t max_bytes = uint64_t{64} << 20;  ///< of one source, decoded; exactly as many are taken
  int max_redirects = 5;

  /// Seconds for one source in all: look-up, connection, redirects and body. Unset: whole seconds
  /// from the environment variable REQUEST_TIMEOUT, else 3.
  std::optional<double> timeout_s;

  /// Proxies from HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, in either case, chosen as the
  /// Python package requests does. The address of a host behind a proxy cannot be checked: there,
  /// literal addresses are checked, and names that only a private network knows ("localhost", one
  /// label, ".local", ".internal") are refused unless allowed_hosts names them.
  bool environment_proxies = true;

  bool url_safe_base64 = false;  ///< base64 may use '-' and '_'
  std::string ca_file;           ///< PEM file of trusted certificates; empty: libcurl's own
};

/// Bytes that several sources may take together. Thread-safe.
class ByteBudget {
 public:
  explicit ByteBudget(uint64_t bytes) : left_(bytes), size_(bytes) {}

  /// Takes `bytes`, or nothing and returns false.
  bool Take(uint64_t bytes) noexcept {
    uint64_t left = left_.load(std::memory_order_relaxed);
    while (left >= bytes) {
      if (left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  void Return(uint64_t bytes) noexcept { left_.fetch_add(bytes, std::memory_order_relaxed); }
  uint64_t left() const noexcept { return left_.load(std::memory_order_relaxed); }
  uint64_t size() const noexcept { return size_; }

 private:
  std::atomic<uint64_t> left_;
  const uint64_t size_;
};

/// The bytes of one source; waits for them. A source is, in this order: an http or https URL, a
/// file URL or an absolute path, a data: URL, and otherwise base64; letter case of the scheme and
/// blanks around the source do not matter. `cancelled`, if given, is asked about ten times a second
/// while the network is waited for; true ends the fetch.
/// Errors: kBadSource, kFetchFailed, kForbidden, kLimitExceeded, kUnsupported (no libcurl),
/// kInvalidArgument (the policy), kOutOfMemory. Thread-safe.
MMCPP_EXPORT Result<Buffer> Fetch(std::string_view source, const FetchPolicy& policy = {},
                                  const std::function<bool()>& cancelled = {});

/// kInvalidArgument, with what is wrong, for a policy that Fetch would not take.
MMCPP_EXPORT Status CheckFetchPolicy(const FetchPolicy& policy);

/// The sources of one request, fetched at the same time under one policy. All or nothing: the first
/// failure ends the others. Transfers move only inside Poll and Wait, on the caller's thread; name
/// look-ups alone, which the system offers no deadline for, each run on a thread of their own for
/// as long as they take. Not thread-safe: one group, one thread at a time.
class MMCPP_EXPORT FetchGroup {
 public:
  struct Options {
    /// Shared by all sources of the group; owned by the caller when given, else a budget of
    /// max_total_bytes.
    ByteBudget* budget = nullptr;
    uint64_t max_total_bytes = uint64_t{256} << 20;
    size_t max_concurrent = 16;  ///< transfers at a time; more wait for their turn
  };

  /// Reads the environment. kInvalidArgument for a policy that makes no sense, named.
  static Result<FetchGroup> Create(const FetchPolicy& policy, const Options& options);
  static Result<FetchGroup> Create(const FetchPolicy& policy) { return Create(policy, Options()); }

  FetchGroup(FetchGroup&&) noexcept;
  FetchGroup& operator=(FetchGroup&&) noexcept;
  ~FetchGroup();  ///< cancels what is not done

  /// Adds a source and gives its index. Its time begins when its transfer does.
  size_t Start(std::string source);

  /// Moves the transfers and waits up to `wait` for one to have something to do; zero only looks.
  /// True when every source is done or one has failed.
  bool Poll(std::chrono::milliseconds wait);

  /// Polls to the end, then gives the bytes in the order of Start, once. The error of the first
  /// failure otherwise, its index in Error::item and "source 2: " at the head of its message.
  Result<std::vector<Buffer>> Wait();

  /// Ends every transfer; Wait then gives kFetchFailed, unless a failure came first.
  void Cancel();

 private:
  struct Impl;
  explicit FetchGroup(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mmcpp
