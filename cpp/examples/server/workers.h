// N threads, each on a core of its own, behind a queue of bounded length. The library is the inline
// build: a request stays on the thread that took it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace mmcpp::server {

class Workers {
 public:
  /// `count` threads and up to `queue` jobs that wait for one.
  Workers(size_t count, size_t queue, bool pin);
  /// Runs what was submitted to the end.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// False when the queue is full. The job must not throw.
  bool Submit(std::function<void()> job);
  size_t depth() const;

 private:
  void Run(size_t index, bool pin);

  const size_t queue_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> jobs_;
  size_t idle_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace mmcpp::server
