// Entries and flights. A key has at most one flight; a flight has one owner, who lands it or gives
// it up. No value is made, copied or destroyed under the lock.
#include "cache/item_cache.h"

#include <utility>

#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "cache/session.h"

namespace mmcpp {

std::shared_ptr<ItemCache::Core::Entry> ItemCache::Core::Find(const std::string& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->second;
}

std::shared_ptr<ItemCache::Core::Flight> ItemCache::Core::FindFlight(const std::string& key) const {
  const auto found = flights_.find(key);
  return found == flights_.end() ? nullptr : found->second;
}

std::shared_ptr<ItemCache::Core::Flight> ItemCache::Core::StartFlight(const CacheKey& key) {
  auto flight = std::make_shared<Flight>();
  flight->content = key.content;
  flights_.emplace(key.key, flight);
  return flight;
}

void ItemCache::Core::Pin(const std::shared_ptr<Entry>& entry) {
  if (entry->pins++ > 0 || !entry->stored) return;
  pinned_.splice(pinned_.end(), by_age_, entry->place);
  stats_.pinned_bytes += entry->bytes;
}

void ItemCache::Core::Unpin(const std::shared_ptr<Entry>& entry) {
  if (--entry->pins > 0 || !entry->stored) return;
  stats_.pinned_bytes -= entry->bytes;
  by_age_.splice(by_age_.end(), pinned_, entry->place);
}

void ItemCache::Core::Remove(const std::shared_ptr<Entry>& entry, Dropped* dropped) {
  dropped->push_back(entry->value);
  entry->stored = false;
  stats_.bytes -= entry->bytes;
  --stats_.entries;
  entries_.erase(entry->key);
  if (entry->pins > 0) stats_.pinned_bytes -= entry->bytes;
  (entry->pins > 0 ? pinned_ : by_age_).erase(entry->place);
}

std::shared_ptr<ItemCache::Core::Entry> ItemCache::Core::Store(const std::string& key,
                                                               const Flight& flight,
                                                               Dropped* dropped) {
  const size_t room = options_.max_bytes - stats_.pinned_bytes;
  if (flight.bytes > room || pinned_.size() >= options_.max_entries) return nullptr;
  auto entry = std::make_shared<Entry>();
  entry->key = key;
  entry->content = flight.content;
  entry->value = flight.value;
  entry->bytes = flight.bytes;
  entry->pins = 1;
  while (stats_.bytes > options_.max_bytes - flight.bytes ||
         stats_.entries >= options_.max_entries) {
    Remove(std::shared_ptr<Entry>(by_age_.front()), dropped);
    ++stats_.evicted;
  }
  entry->place = pinned_.insert(pinned_.end(), entry);
  try {
    entries_.emplace(key, entry);
  } catch (const std::bad_alloc&) {
    pinned_.pop_back();
    return nullptr;
  }
  stats_.bytes += entry->bytes;
  stats_.pinned_bytes += entry->bytes;
  ++stats_.entries;
  ++stats_.stored;
  return entry;
}

void ItemCache::Core::Land(const std::string& key, const std::shared_ptr<Flight>& flight,
                           Value value, size_t bytes, Dropped* dropped) {
  flight->value = std::move(value);
  flight->bytes = bytes;
  flight->landed = true;
  const auto current = flights_.find(key);
  if (current != flights_.end() && current->second == flight) flights_.erase(current);
  if (!flight->discard) {
    // Out of memory for the bookkeeping is one more reason not to store; the value is safe.
    try {
      flight->entry = Store(key, *flight, dropped);
    } catch (const std::bad_alloc&) {
    }
    if (flight->entry == nullptr) ++stats_.not_stored;
  }
  landed_.notify_all();
}

void ItemCache::Core::GiveUp(const std::string& key, const std::shared_ptr<Flight>& flight) {
  flight->landed = true;
  const auto current = flights_.find(key);
  if (current != flights_.end() && current->second == flight) flights_.erase(current);
  landed_.notify_all();
}

ItemCache::ItemCache(const CacheOptions& options) : core_(std::make_shared<Core>(options)) {}
ItemCache::~ItemCache() = default;

Result<CacheSession> ItemCache::Open(Span<const CacheKey> keys) {
  return CatchOutOfMemory([&]() -> Result<CacheSession> {
    CacheSession session(std::make_unique<CacheSession::Impl>(core_));
    MMCPP_TRY(session.impl_->Open(keys));  // on an error the session's end lets go of everything
    return session;
  });
}

bool ItemCache::Contains(const std::string& key) const {
  const Core::Lock lock(core_->mutex());
  return core_->Find(key) != nullptr;
}

bool ItemCache::Touch(const std::string& key) {
  const Core::Lock lock(core_->mutex());
  const auto entry = core_->Find(key);
  if (entry == nullptr) return false;
  if (entry->pins == 0) core_->by_age_.splice(core_->by_age_.end(), core_->by_age_, entry->place);
  return true;
}

bool ItemCache::Invalidate(const std::string& key) {
  Core::Dropped dropped;
  const Core::Lock lock(core_->mutex());
  const auto flight = core_->FindFlight(key);
  if (flight != nullptr) {
    flight->discard = true;
    core_->flights_.erase(key);  // who asks from now on makes it anew
  }
  const auto entry = core_->Find(key);
  if (entry != nullptr) {
    core_->Remove(entry, &dropped);
    ++core_->stats_.invalidated;
  }
  return flight != nullptr || entry != nullptr;
}

void ItemCache::Clear() {
  Core::Dropped dropped;
  const Core::Lock lock(core_->mutex());
  for (auto& [key, flight] : core_->flights_) flight->discard = true;
  core_->flights_.clear();
  core_->stats_.invalidated += core_->entries_.size();
  while (!core_->entries_.empty()) {
    core_->Remove(std::shared_ptr<Core::Entry>(core_->entries_.begin()->second), &dropped);
  }
}

CacheStats ItemCache::Stats() const {
  const Core::Lock lock(core_->mutex());
  return core_->stats_;
}

std::vector<std::string> ItemCache::KeysByAge() const {
  const Core::Lock lock(core_->mutex());
  std::vector<std::string> keys;
  for (const auto& entry : core_->by_age_) keys.push_back(entry->key);
  return keys;
}

}  // namespace mmcpp
