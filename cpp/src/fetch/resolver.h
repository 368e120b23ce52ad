// Names to addresses beside the caller's thread: getaddrinfo takes no deadline, so each look-up has
// a thread that lives as long as the look-up does, and the caller stops waiting when it likes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fetch/address.h"
#include "mmcpp/status.h"

namespace mmcpp::fetch {

/// All addresses of a name, best first. Called on a thread of its own; tests bring their own.
using ResolveFunction = std::function<Result<std::vector<IpAddress>>(const std::string& host)>;

/// getaddrinfo for TCP.
Result<std::vector<IpAddress>> SystemResolve(const std::string& host);

/// A pipe that wakes a poll: written by look-ups, read by the group that waits for them.
class WakePipe {
 public:
  WakePipe();
  ~WakePipe();
  WakePipe(const WakePipe&) = delete;
  WakePipe& operator=(const WakePipe&) = delete;

  int read_end() const { return ends_[0]; }  ///< -1 if the system had no pipe
  void Wake() const;
  void Drain() const;

 private:
  int ends_[2] = {-1, -1};
};

/// One look-up under way.
class Lookup {
 public:
  /// kFetchFailed when too many look-ups are under way in this process, or no thread can be had.
  static Result<Lookup> Start(const std::string& host, const ResolveFunction& resolve,
                              std::shared_ptr<const WakePipe> wake);

  bool done() const;
  /// Once done.
  Result<std::vector<IpAddress>> Take();

 private:
  struct State;
  explicit Lookup(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace mmcpp::fetch
