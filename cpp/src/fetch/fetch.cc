// The public face of fetching.
#include "mmcpp/fetch.h"

#include <cstdlib>
#include <utility>

#include "base/ascii.h"
#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "fetch/group.h"

namespace mmcpp {
namespace {

fetch::World ThisWorld(const FetchPolicy& policy) {
  fetch::World world;
  world.timeout = fetch::SourceTimeout(policy, std::getenv("REQUEST_TIMEOUT"));
  if (policy.environment_proxies) {
    world.environment = fetch::SnapshotEnvironment();
  } else {
    world.environment = [](const std::string&) { return std::nullopt; };
  }
  return world;
}

constexpr char kCancelled[] = "fetch: cancelled";

Result<Buffer> FetchOne(std::string_view source, const FetchPolicy& policy,
                        const std::function<bool()>& cancelled) {
  MMCPP_ASSIGN(fetch::Policy compiled, fetch::Policy::Compile(policy));
  ByteBudget budget(policy.max_bytes);
  source = TrimBlanks(source);
  if (fetch::Classify(source) != fetch::SourceKind::kHttp) {
    return fetch::ReadLocalSource(source, compiled, &budget);
  }
  fetch::Group group(std::move(compiled), ThisWorld(policy), &budget, 1);
  group.Add(std::string(source));
  while (!group.Poll(std::chrono::milliseconds(100))) {
    if (cancelled && cancelled()) group.Cancel(FetchFailed(kCancelled));
  }
  auto all = group.Take();
  if (all.ok()) return std::move((*all)[0]);
  Error error = std::move(all).error();
  error.item = -1;
  return error;
}

}  // namespace

Result<Buffer> Fetch(std::string_view source, const FetchPolicy& policy,
                     const std::function<bool()>& cancelled) {
  return CatchOutOfMemory([&] { return FetchOne(source, policy, cancelled); });
}

Status CheckFetchPolicy(const FetchPolicy& policy) {
  return CatchOutOfMemory([&]() -> Status {
    MMCPP_TRY(fetch::Policy::Compile(policy));
    return Ok{};
  });
}

struct FetchGroup::Impl {
  Impl(fetch::Policy policy, fetch::World world, const Options& options)
      : own_budget(options.max_total_bytes),
        group(std::move(policy), std::move(world),
              options.budget != nullptr ? options.budget : &own_budget, options.max_concurrent) {}

  ByteBudget own_budget;
  fetch::Group group;
};

FetchGroup::FetchGroup(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FetchGroup::FetchGroup(FetchGroup&&) noexcept = default;
FetchGroup& FetchGroup::operator=(FetchGroup&&) noexcept = default;
FetchGroup::~FetchGroup() = default;

Result<FetchGroup> FetchGroup::Create(const FetchPolicy& policy, const Options& options) {
  return CatchOutOfMemory([&]() -> Result<FetchGroup> {
    MMCPP_ASSIGN(fetch::Policy compiled, fetch::Policy::Compile(policy));
    return FetchGroup(std::make_unique<Impl>(std::move(compiled), ThisWorld(policy), options));
  });
}

size_t FetchGroup::Start(std::string source) { return impl_->group.Add(std::move(source)); }

bool FetchGroup::Poll(std::chrono::milliseconds wait) {
  auto done = CatchOutOfMemory([&]() -> Result<bool> { return impl_->group.Poll(wait); });
  if (done.ok()) return *done;
  impl_->group.Cancel(std::move(done).error());
  return true;
}

Result<std::vector<Buffer>> FetchGroup::Wait() {
  while (!Poll(std::chrono::seconds(1))) {
  }
  auto all = impl_->group.Take();
  if (all.ok() || all.error().item < 0) return all;
  const std::string which = "source " + std::to_string(all.error().item);
  return WithContext(std::move(all).error(), which);
}

void FetchGroup::Cancel() { impl_->group.Cancel(FetchFailed(kCancelled)); }

}  // namespace mmcpp
