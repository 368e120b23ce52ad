// mmcpp_server: the command line, signals, and the service between them.
#include <malloc.h>
#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#include "mmcpp/registry.h"
#include "service.h"

namespace {

using mmcpp::server::Options;

constexpr char kUsage[] =
    "usage: mmcpp_server --spec FILE [--host H] [--port N] [--workers N] [--queue N]\n"
    "                    [--connections N] [--max-request-bytes N] [--body-timeout S]\n"
    "                    [--deadline-ms N] [--no-pin]\n"
    "                    [--allow-network CIDR]... [--allow-host H]... [--file-root DIR]...\n"
    "  --port 0 takes any that is free; the first line printed says which\n"
    "  no file is read and no private address asked, unless allowed here\n";

int Fail(const std::string& what) {
  std::fprintf(stderr, "mmcpp_server: %s\n%s", what.c_str(), kUsage);
  return 2;
}

bool ReadNumber(const std::string& text, size_t* value) {
  if (text.empty() || text.size() > 12) return false;
  if (text.find_first_not_of("0123456789") != std::string::npos) return false;
  *value = std::stoull(text);
  return true;
}

/// Empty, or what is wrong.
std::string ReadArguments(int argc, char** argv, Options* options, std::string* spec) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--no-pin") {
      options->pin = false;
      continue;
    }
    if (i + 1 == argc) return name + " needs a value, or is unknown";
    const std::string value = argv[++i];
    size_t number = 0;
    const bool is_number = ReadNumber(value, &number);
    if (name == "--spec") {
      *spec = value;
    } else if (name == "--host") {
      options->host = value;
    } else if (name == "--allow-network") {
      options->policy.allowed_networks.push_back(value);
    } else if (name == "--allow-host") {
      if (!options->policy.allowed_hosts) options->policy.allowed_hosts.emplace();
      options->policy.allowed_hosts->push_back(value);
    } else if (name == "--file-root") {
      options->policy.file_roots.push_back(value);
    } else if (!is_number) {
      return name + " " + value + " is not understood";
    } else if (name == "--port" && number < 65536) {
      options->port = static_cast<int>(number);
    } else if (name == "--workers") {
      options->workers = number;
    } else if (name == "--queue") {
      options->queue = number;
    } else if (name == "--connections" && number > 0) {
      options->connections = number;
    } else if (name == "--max-request-bytes") {
      options->max_request_bytes = number;
    } else if (name == "--body-timeout") {
      options->body_timeout = std::chrono::seconds(number);
    } else if (name == "--deadline-ms") {
      options->deadline = std::chrono::milliseconds(number);
    } else {
      return name + " " + value + " is not understood";
    }
  }
  return spec->empty() ? "--spec is missing" : "";
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::string path;
  const std::string wrong = ReadArguments(argc, argv, &options, &path);
  if (!wrong.empty()) return Fail(wrong);
  std::ifstream file(path);
  if (!file) return Fail("cannot read " + path);
  const std::string spec((std::istreambuf_iterator<char>(file)), {});
  auto family = mmcpp::FamilyFromSpec(spec);
  if (!family.ok()) return Fail(family.error().message);
  const auto policy = mmcpp::CheckFetchPolicy(options.policy);
  if (!policy.ok()) return Fail(policy.error().message);

#ifdef __GLIBC__
  // Bodies of megabytes on dozens of threads: given back when freed, not kept by each thread's
  // arena.
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  mallopt(M_ARENA_MAX, 2);
#endif

  // One thread waits for the signals that stop; every other inherits the mask.
  signal(SIGPIPE, SIG_IGN);
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);

  mmcpp::server::Service service(*std::move(family), options);
  const int port = service.Bind();
  if (port < 0) return Fail("cannot listen on " + options.host);
  std::printf("listening on http://%s:%d\n", options.host.c_str(), port);
  std::fflush(stdout);
  std::promise<void> served;
  std::thread waiter([&, ended = served.get_future()] {
    int signal_number = 0;
    sigwait(&stop, &signal_number);
    service.Stop();
    // Nothing in httplib bounds a head that comes in drops, whose connection would keep this
    // process.
    if (ended.wait_for(std::chrono::seconds(5)) == std::future_status::timeout) std::_Exit(0);
  });
  service.Serve();
  served.set_value();
  waiter.join();
  return 0;
}
