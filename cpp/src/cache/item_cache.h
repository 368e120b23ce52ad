// The state behind ItemCache and its sessions: entries, values being made, and the order of use.
#pragma once

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "mmcpp/cache.h"

namespace mmcpp {

/// All members but the two structs' contents are guarded by the lock; methods with a Lock expect it
/// to be held. Values that were dropped go into `Dropped`, which the caller destroys unlocked.
class ItemCache::Core {
 public:
  using Lock = std::unique_lock<std::mutex>;
  using Dropped = std::vector<Value>;

  struct Entry {
    std::string key, content;
    Value value;
    size_t bytes = 0;
    size_t pins = 0;
    bool stored = true;  // false once evicted, invalidated or replaced
    std::list<std::shared_ptr<Entry>>::iterator place;  // in pinned_ or by_age_, while stored
  };
  /// A value that a session is making.
  struct Flight {
    std::string content;
    bool landed = false;   // the value is there, or its maker gave up
    bool discard = false;  // invalidated meanwhile: not to be stored
    Value value;           // null after its maker gave up
    size_t bytes = 0;
    std::shared_ptr<Entry> entry;  // if it was stored
  };

  explicit Core(const CacheOptions& options) : options_(options) {}

  std::mutex& mutex() const { return mutex_; }

  std::shared_ptr<Entry> Find(const std::string& key) const;
  std::shared_ptr<Flight> FindFlight(const std::string& key) const;
  std::shared_ptr<Flight> StartFlight(const CacheKey& key);

  void Pin(const std::shared_ptr<Entry>& entry);
  void Unpin(const std::shared_ptr<Entry>& entry);

  /// Ends a flight with a value, stored and pinned once if there is room.
  void Land(const std::string& key, const std::shared_ptr<Flight>& flight, Value value,
            size_t bytes, Dropped* dropped);
  /// Ends a flight without a value.
  void GiveUp(const std::string& key, const std::shared_ptr<Flight>& flight);

  void Remove(const std::shared_ptr<Entry>& entry, Dropped* dropped);

  CacheOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable landed_;
  std::unordered_map<std::string, std::shared_ptr<Entry>> entries_;
  std::unordered_map<std::string, std::shared_ptr<Flight>> flights_;
  // Entries move between the lists by splicing, so that letting go never needs memory.
  std::list<std::shared_ptr<Entry>> by_age_;  // not pinned, the next to be evicted first
  std::list<std::shared_ptr<Entry>> pinned_;
  CacheStats stats_;

 private:
  std::shared_ptr<Entry> Store(const std::string& key, const Flight& flight, Dropped* dropped);
};

}  // namespace mmcpp
