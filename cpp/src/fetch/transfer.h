// One request over http(s), one hop: the URL and the addresses are settled before, redirects are
// the caller's.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fetch/address.h"
#include "fetch/curl_api.h"
#include "fetch/proxy.h"
#include "fetch/sink.h"
#include "fetch/url.h"
#include "mmcpp/status.h"

namespace mmcpp::fetch {

/// What a transfer is to do.
struct Hop {
  Url url;
  std::optional<Proxy> proxy;
  std::vector<IpAddress> addresses;  ///< of the proxy if there is one, of the host else
  std::chrono::milliseconds timeout{0};
  std::string ca_file;
};

/// What came of it, when it did not fail.
struct Answer {
  long status = 0;
  std::optional<std::string> location;  ///< of a redirect
};

/// A transfer of a libcurl multi handle. It connects to an address of the hop and to no other,
/// sends one GET, and appends the decoded body of an answer from 200 to 299 to the sink.
class Transfer {
 public:
  /// Begins; `multi` and `sink` must outlive the transfer.
  static Result<std::unique_ptr<Transfer>> Start(const CurlApi* api, CURLM* multi, Hop hop,
                                                 Sink* sink);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  CURL* handle() const { return easy_; }

  /// The answer, once libcurl has reported `code` for the handle; kFetchFailed with the reason, or
  /// the error of the sink.
  Result<Answer> Finish(CURLcode code);

 private:
  Transfer(const CurlApi* api, CURLM* multi, Hop hop, Sink* sink);
  Status Configure();
  void ConfigureProxy();
  std::string PinnedAddresses() const;
  template <class T>
  void Set(CURLoption option, T value);

  static size_t OnBody(char* data, size_t size, size_t count, void* self);
  static size_t OnHeader(char* data, size_t size, size_t count, void* self);
  static curl_socket_t OnSocket(void* self, curlsocktype purpose, curl_sockaddr* address);
  bool TakeBody(Bytes bytes);
  bool TakeHeader(std::string_view line);
  curl_socket_t OpenSocket(const curl_sockaddr& address);

  const CurlApi* api_;
  CURLM* multi_;
  const Hop hop_;
  Sink* sink_;
  CURL* easy_ = nullptr;
  curl_slist* pinned_ = nullptr;
  bool added_ = false;
  CURLcode set_ = CURLE_OK;  // the first option that failed
  char reason_[CURL_ERROR_SIZE] = "";

  Answer answer_;
  std::optional<Error>
      error_;  // of the sink or of a limit, where libcurl only knows that we stopped
  uint64_t header_bytes_ = 0, skipped_bytes_ = 0;
  bool head_complete_ = false;
  bool encoded_ = false;  // the body has a Content-Encoding
};

}  // namespace mmcpp::fetch
