// Sessions. They wait for flights only while they own none, so that waiting never goes in a circle.
#include "cache/session.h"

#include <unordered_map>
#include <utility>

#include "base/ensure.h"
#include "base/out_of_memory.h"

namespace mmcpp {
namespace {

Status CheckContent(const CacheKey& key, const std::string& filled_with) {
  if (key.content.empty() || filled_with.empty() || key.content == filled_with) return Ok{};
  return InvalidArgument("cache: the key \"" + key.key.substr(0, 64) +
                         "\" stands for another content already");
}

}  // namespace

/// Finds the slot's value, or whoever makes it, or makes this session its maker. Under the lock.
Status CacheSession::Impl::Join(Slot* slot) {
  if (const auto entry = core->Find(slot->key.key)) {
    MMCPP_TRY(CheckContent(slot->key, entry->content));
    core->Pin(entry);
    slot->pinned = entry;
    slot->value = entry->value;
    slot->state = CacheState::kHit;
    return Ok{};
  }
  if (const auto flight = core->FindFlight(slot->key.key)) {
    MMCPP_TRY(CheckContent(slot->key, flight->content));
    slot->flight = flight;
    slot->state = CacheState::kPending;
    return Ok{};
  }
  slot->flight = core->StartFlight(slot->key);
  slot->state = CacheState::kOwned;
  return Ok{};
}

Status CacheSession::Impl::Open(Span<const CacheKey> keys) {
  std::unordered_map<std::string, size_t> first;
  slots.resize(keys.size());
  const Core::Lock lock(core->mutex());
  for (size_t i = 0; i < keys.size(); ++i) {
    Slot& slot = slots[i];
    slot.key = keys[i];
    slot.first = first.try_emplace(slot.key.key, i).first->second;
    if (slot.first < i) {
      MMCPP_TRY(CheckContent(slot.key, slots[slot.first].key.content));
      slot.state = CacheState::kRepeated;
      ++core->stats_.repeated;
      continue;
    }
    MMCPP_TRY(Join(&slot));
    CacheStats& stats = core->stats_;
    ++(slot.state == CacheState::kHit     ? stats.hits
       : slot.state == CacheState::kOwned ? stats.misses
                                          : stats.shared);
    if (slot.state == CacheState::kHit) stats.hit_bytes += slot.pinned->bytes;
  }
  return Ok{};
}

Status CacheSession::Impl::Publish(size_t i, ItemCache::Value value, size_t bytes) {
  Core::Dropped dropped;
  const Core::Lock lock(core->mutex());
  if (i >= slots.size() || slots[i].state != CacheState::kOwned) {
    return InvalidArgument("cache: item " + std::to_string(i) + " is not this session's to make");
  }
  if (value == nullptr) {
    return InvalidArgument("cache: item " + std::to_string(i) + " is published without a value");
  }
  Slot& slot = slots[i];
  slot.value = value;
  slot.state = CacheState::kHit;
  core->Land(slot.key.key, slot.flight, std::move(value), bytes, &dropped);
  slot.pinned = std::move(slot.flight->entry);  // pinned by Land, for this session
  slot.flight.reset();
  return Ok{};
}

Result<CacheState> CacheSession::Impl::Wait(size_t i, std::chrono::milliseconds timeout) {
  if (i >= slots.size()) return InvalidArgument("cache: no item " + std::to_string(i));
  Slot& slot = slots[slots[i].first];
  if (slot.state != CacheState::kPending) return slot.state;
  const auto until = std::chrono::steady_clock::now() + timeout;
  Core::Lock lock(core->mutex());
  for (size_t other = 0; other < slots.size(); ++other) {
    if (slots[other].state == CacheState::kOwned) {
      return InvalidArgument("cache: item " + std::to_string(other) +
                             " is to be published before waiting for another");
    }
  }
  while (slot.state == CacheState::kPending) {
    const auto flight = slot.flight;
    if (!core->landed_.wait_until(lock, until, [&] { return flight->landed; })) {
      return CacheState::kPending;
    }
    if (flight->value != nullptr) {
      Take(&slot, flight);
    } else {
      MMCPP_TRY(Join(&slot));  // its maker gave up: found, someone else's or ours
      if (slot.state == CacheState::kOwned) ++core->stats_.misses;
    }
  }
  return slot.state;
}

/// The value of a landed flight, pinned if it is still stored. Under the lock.
void CacheSession::Impl::Take(Slot* slot, const std::shared_ptr<Core::Flight>& flight) {
  slot->value = flight->value;
  slot->state = CacheState::kHit;
  slot->flight.reset();
  core->stats_.hit_bytes += flight->bytes;
  const auto entry = core->Find(slot->key.key);
  if (entry == nullptr || entry->value != slot->value) return;
  core->Pin(entry);
  slot->pinned = entry;
}

void CacheSession::Impl::Close() {
  std::vector<Slot> released;  // values may be destroyed with it, after the lock
  const Core::Lock lock(core->mutex());
  for (Slot& slot : slots) {
    if (slot.state == CacheState::kOwned && slot.flight != nullptr) {
      core->GiveUp(slot.key.key, slot.flight);
    }
    if (slot.pinned != nullptr) core->Unpin(slot.pinned);
  }
  released.swap(slots);
}

CacheSession::CacheSession(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CacheSession::CacheSession(CacheSession&& other) noexcept = default;
CacheSession& CacheSession::operator=(CacheSession&& other) noexcept = default;
CacheSession::~CacheSession() = default;

size_t CacheSession::size() const noexcept { return impl_->slots.size(); }
CacheState CacheSession::state(size_t i) const { return impl_->slots[i].state; }
size_t CacheSession::first(size_t i) const { return impl_->slots[i].first; }
ItemCache::Value CacheSession::value(size_t i) const {
  return impl_->slots[impl_->slots[i].first].value;
}
Status CacheSession::Publish(size_t i, ItemCache::Value value, size_t bytes) {
  return impl_->Publish(i, std::move(value), bytes);
}
Result<CacheState> CacheSession::Wait(size_t i, std::chrono::milliseconds timeout) {
  return CatchOutOfMemory([&] { return impl_->Wait(i, timeout); });
}
void CacheSession::Close() { impl_->Close(); }

}  // namespace mmcpp
