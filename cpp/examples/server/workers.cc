// The queue and the cores.
#include "workers.h"

#include <pthread.h>
#include <sched.h>

#include <chrono>
#include <utility>

#include "mmcpp/tensor.h"

namespace mmcpp::server {
namespace {

/// Without work for so long, what waits for the next picture is given back.
constexpr std::chrono::seconds kIdle{5};

/// The index-th core that this process may use, counted round.
void PinTo(size_t index) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  size_t skip = index % static_cast<size_t>(CPU_COUNT(&allowed));
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || skip-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    return;
  }
}

}  // namespace

Workers::Workers(size_t count, size_t queue, bool pin) : queue_(queue), idle_(count) {
  for (size_t i = 0; i < count; ++i) threads_.emplace_back([this, i, pin] { Run(i, pin); });
}

Workers::~Workers() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool Workers::Submit(std::function<void()> job) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (jobs_.size() >= queue_ + idle_) return false;
    jobs_.push_back(std::move(job));
  }
  ready_.notify_one();
  return true;
}

size_t Workers::depth() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return jobs_.size();
}

void Workers::Run(size_t index, bool pin) {
  if (pin) PinTo(index);
  std::unique_lock<std::mutex> lock(mutex_);
  const auto has_work = [this] { return stopping_ || !jobs_.empty(); };
  for (;;) {
    if (!ready_.wait_for(lock, kIdle, has_work)) {
      lock.unlock();
      FreeWaitingBuffers();
      lock.lock();
      ready_.wait(lock, has_work);
    }
    if (jobs_.empty()) return;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    --idle_;
    lock.unlock();
    job();
    job = nullptr;  // what it holds is given back before the next is taken
    lock.lock();
    ++idle_;
  }
}

}  // namespace mmcpp::server
