// The inline build starts no thread, seen from outside: a traced child runs requests, and its
// tracer counts what it clones.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "mmcpp/driver.h"
#include "mmcpp/registry.h"
#include "par/par.h"
#include "support/pictures.h"
#include "support/specs.h"

namespace mmcpp {
namespace {

/// Runs body in a child; the threads it started, or -1 where tracing is not allowed. body gives the
/// child's exit status, which must be 0.
template <class Body>
int ThreadsStartedBy(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(77);
    raise(SIGSTOP);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) return -1;
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
  int threads = 0;
  ptrace(PTRACE_CONT, child, nullptr, nullptr);
  for (;;) {
    const pid_t stopped = waitpid(-1, &status, __WALL);
    if (stopped < 0) break;
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (stopped != child) continue;
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
      break;
    }
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_CLONE << 8)) ++threads;
    const int signal = WSTOPSIG(status);
    // Stops of the tracing itself are not passed on.
    const bool own = signal == SIGTRAP || signal == SIGSTOP;
    ptrace(PTRACE_CONT, stopped, nullptr, own ? 0L : static_cast<long>(signal));
  }
  return threads;
}

TEST(InlineExecutor, StartsNoThread) {
  if (std::strcmp(par::ExecutorName(), "inline") != 0) GTEST_SKIP() << "another executor";
  const auto family = FamilyFromSpec(test::QwenVlSpec().dump());
  ASSERT_TRUE(family.ok());
  const test::Picture a(1500, 1200), b(900, 1600, 1);
  const std::vector<uint8_t> bmp = test::EncodeBmp(b.view());
  const std::vector<MediaSource> media = {a.view(), Bytes(bmp), a.view(), b.view()};
  const std::vector<int64_t> ids(4, 9);
  const int threads = ThreadsStartedBy([&] {
    const bool whole = Process(**family, {ids, media, {}}).ok();
    return whole && ProcessItems(**family, media, {}).ok() ? 0 : 1;
  });
  if (threads < 0) GTEST_SKIP() << "this system does not let a process trace its child";
  EXPECT_EQ(threads, 0);
}

TEST(InlineExecutor, AThreadWouldBeSeen) {
  if (std::strcmp(par::ExecutorName(), "inline") != 0) GTEST_SKIP() << "another executor";
  const int threads = ThreadsStartedBy([] {
    std::thread([] {}).join();
    return 0;
  });
  if (threads < 0) GTEST_SKIP() << "this system does not let a process trace its child";
  EXPECT_EQ(threads, 1);
}

}  // namespace
}  // namespace mmcpp
