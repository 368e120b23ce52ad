// A group over a server on loopback, with names and variables that the test invents.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fetch/group.h"
#include "support/http_server.h"

namespace mmcpp::fetch {

struct TestWorld {
  FetchPolicy policy;
  std::map<std::string, std::string> variables;
  ResolveFunction resolve = [](const std::string& host) -> Result<std::vector<IpAddress>> {
    return Error{ErrorCode::kFetchFailed, "fetch: cannot resolve " + host};
  };
  std::chrono::milliseconds timeout{20000};
  uint64_t budget_bytes = uint64_t{64} << 20;
  size_t max_concurrent = 16;

  TestWorld() { policy.allowed_networks = {"127.0.0.0/8"}; }

  World Make() const {
    World world;
    world.resolve = resolve;
    world.timeout = timeout;
    world.environment = [values =
                             variables](const std::string& name) -> std::optional<std::string> {
      const auto found = values.find(name);
      if (found == values.end()) return {};
      return found->second;
    };
    return world;
  }

  Result<std::vector<Buffer>> FetchAll(const std::vector<std::string>& sources) const {
    ByteBudget budget(budget_bytes);
    Group group(Policy::Compile(policy).value(), Make(), &budget, max_concurrent);
    for (const std::string& source : sources) group.Add(source);
    while (!group.Poll(std::chrono::seconds(1))) {
    }
    return group.Take();
  }

  // The bytes of one source, or "code: message".
  std::string Fetch(const std::string& source) const {
    auto all = FetchAll({source});
    if (!all.ok()) {
      return std::string(ErrorCodeName(all.error().code)) + ": " + all.error().message;
    }
    const Buffer& buffer = all->at(0);
    return std::string(reinterpret_cast<const char*>(buffer.data()), buffer.size());
  }
};

inline bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace mmcpp::fetch
