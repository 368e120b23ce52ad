// The service: HTTP in, the library's answer out. Connections have threads of their own, which
// read, fetch and write; pictures are processed by the workers alone.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "mmcpp/family.h"
#include "mmcpp/fetch.h"

namespace mmcpp::server {

struct Options {
  std::string host = "127.0.0.1";
  int port = 0;        ///< 0: any that is free
  size_t workers = 0;  ///< 0: as many as cores
  size_t queue = 16;   ///< requests that wait for a worker; more are answered with 503
  size_t connections = 64;
  bool pin = true;
  size_t max_request_bytes = size_t{64} << 20;
  uint64_t max_bytes_in_flight = uint64_t{1} << 30;  ///< of all requests' bodies together
  std::chrono::seconds body_timeout{10};             ///< from a request's head to its last byte
  std::chrono::milliseconds deadline{30'000};        ///< from the body's last byte to the answer
  FetchPolicy policy;
};

class Service {
 public:
  Service(std::unique_ptr<const Family> family, const Options& options);
  ~Service();

  /// The port, or -1 if none can be had.
  int Bind();
  /// Serves until Stop.
  void Serve();
  /// From any thread: answers what was accepted, within 30 s, and refuses what comes meanwhile.
  void Stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mmcpp::server
