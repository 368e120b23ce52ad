// A cache of processed items shared by the threads of a process: bounded in bytes, least recently
// used first out, one computation for one key at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mmcpp/export.h"
#include "mmcpp/span.h"
#include "mmcpp/status.h"

namespace mmcpp {

struct CacheOptions {
  size_t max_bytes = size_t{4} << 30;    ///< of values, as their owners count them
  size_t max_entries = size_t{1} << 20;  ///< so that values of no bytes are bounded too
};

/// What a cached item is found by.
struct CacheKey {
  std::string key;
  /// A mark of the content that the key stands for, for keys that a client chose; empty: not
  /// checked. A key that was filled with one content is refused for another.
  std::string content;
};

struct CacheStats {
  uint64_t hits = 0;         ///< values that were there
  uint64_t misses = 0;       ///< values that a session had to make
  uint64_t shared = 0;       ///< values that another session was making meanwhile
  uint64_t repeated = 0;     ///< keys that stood in their session before
  uint64_t stored = 0;       ///< values taken in
  uint64_t evicted = 0;      ///< values dropped to make room
  uint64_t not_stored = 0;   ///< values for which there was no room beside what is in use
  uint64_t invalidated = 0;  ///< values dropped on request
  uint64_t hit_bytes = 0;    ///< bytes that hits and shared values did not have to be made again
  size_t entries = 0, bytes = 0;  ///< now
  size_t pinned_bytes = 0;        ///< of `bytes`, those that open sessions hold
};

/// How a session stands to one of its keys.
enum class CacheState : uint8_t {
  kHit,       ///< the value is here
  kOwned,     ///< nobody has it: this session makes it, and publishes it or closes
  kPending,   ///< another session is making it: Wait
  kRepeated,  ///< the key stands earlier in this session, whose value is this one's
};

class CacheSession;

/// Every method may be called from any thread. Values are destroyed outside of the cache's lock.
class MMCPP_EXPORT ItemCache {
 public:
  /// A value of any type; the cache keeps it alive and never looks inside.
  using Value = std::shared_ptr<const void>;

  explicit ItemCache(const CacheOptions& options);
  ~ItemCache();  ///< open sessions stay usable
  ItemCache(const ItemCache&) = delete;
  ItemCache& operator=(const ItemCache&) = delete;

  /// Looks all keys of a request up at once, without waiting. What is found is pinned: nothing
  /// evicts it while the session is open. Nobody else makes what the session owns meanwhile.
  /// Errors: kInvalidArgument (a key filled with another content), kOutOfMemory; nothing stays
  /// pinned then.
  Result<CacheSession> Open(Span<const CacheKey> keys);

  /// Neither counts as a use.
  bool Contains(const std::string& key) const;
  /// Makes the value the last to be evicted; false if it is not there.
  bool Touch(const std::string& key);
  /// Drops the value, and what is being made for the key once it is published; sessions keep what
  /// they hold. False if there was neither.
  bool Invalidate(const std::string& key);
  void Clear();

  CacheStats Stats() const;
  /// The keys that could be evicted, the next one first; pinned ones are not among them.
  std::vector<std::string> KeysByAge() const;

 private:
  friend class CacheSession;
  class Core;
  std::shared_ptr<Core> core_;
};

/// One request's hold on the cache; move-only. Closing (or destroying) it lets go of everything:
/// pinned values may be evicted, what it owned and did not publish is left to whoever waits.
///
/// Publish what is owned before waiting for what is pending: then no circle of sessions can wait
/// for each other. Methods may be called from one thread at a time, Publish from several.
class MMCPP_EXPORT CacheSession {
 public:
  CacheSession(CacheSession&& other) noexcept;
  CacheSession& operator=(CacheSession&& other) noexcept;
  ~CacheSession();

  size_t size() const noexcept;
  CacheState state(size_t i) const;
  /// The index of the first item with this item's key.
  size_t first(size_t i) const;
  /// The value, if the state is kHit (also after Publish and Wait); else null.
  ItemCache::Value value(size_t i) const;

  /// Hands in an owned value of `bytes` bytes. It is stored if it fits beside what is pinned; this
  /// session and those that wait have it in any case. kInvalidArgument unless owned.
  Status Publish(size_t i, ItemCache::Value value, size_t bytes);

  /// Waits until a pending value is there (kHit), its maker gave up and it is this session's to
  /// make (kOwned), or the time is over (kPending). At once for other states.
  /// kInvalidArgument while the session owns something unpublished.
  Result<CacheState> Wait(size_t i, std::chrono::milliseconds timeout);

  void Close();

 private:
  friend class ItemCache;
  struct Impl;
  explicit CacheSession(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mmcpp
