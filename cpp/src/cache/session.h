// One request's slots: what each of its keys came to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cache/item_cache.h"
#include "mmcpp/cache.h"

namespace mmcpp {

struct CacheSession::Impl {
  using Core = ItemCache::Core;

  struct Slot {
    CacheKey key;
    CacheState state = CacheState::kPending;
    size_t first = 0;
    ItemCache::Value value;
    std::shared_ptr<Core::Entry> pinned;
    std::shared_ptr<Core::Flight> flight;  // own or another's
  };

  explicit Impl(std::shared_ptr<Core> cache) : core(std::move(cache)) {}
  ~Impl() { Close(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Status Open(Span<const CacheKey> keys);
  Status Publish(size_t i, ItemCache::Value value, size_t bytes);
  Result<CacheState> Wait(size_t i, std::chrono::milliseconds timeout);
  void Close();

  std::shared_ptr<Core> core;
  std::vector<Slot> slots;

 private:
  Status Join(Slot* slot);
  void Take(Slot* slot, const std::shared_ptr<Core::Flight>& flight);
};

}  // namespace mmcpp
