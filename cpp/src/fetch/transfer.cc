// A transfer: the options that libcurl is given, and what its callbacks let through.
#include "fetch/transfer.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/ensure.h"
#include "mmcpp/version.h"

#undef curl_easy_setopt
#undef curl_easy_getinfo

namespace mmcpp::fetch {
namespace {

constexpr uint64_t kMaxHeaderBytes = uint64_t{256} << 10;
// Bodies of redirects are read and dropped, to keep the connection; longer ones are not worth it.
constexpr uint64_t kMaxSkippedBytes = uint64_t{64} << 10;

std::string UserAgent() {
  return "mmcpp/" + std::to_string(MMCPP_VERSION_MAJOR) + "." +
         std::to_string(MMCPP_VERSION_MINOR) + "." + std::to_string(MMCPP_VERSION_PATCH);
}

std::optional<IpAddress> AddressOf(const curl_sockaddr& from) {
  IpAddress address;
  if (from.family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &from.addr, sizeof v4);
    std::memcpy(address.bytes.data(), &v4.sin_addr, 4);
    return address;
  }
  if (from.family == AF_INET6) {
    sockaddr_in6 v6;
    static_assert(sizeof v6 > sizeof from.addr, "libcurl keeps the address beyond its member");
    std::memcpy(&v6, reinterpret_cast<const char*>(&from) + offsetof(curl_sockaddr, addr),
                sizeof v6);
    std::memcpy(address.bytes.data(), &v6.sin6_addr, 16);
    address.v6 = true;
    return address;
  }
  return {};
}

// The value of a header line with this name (lower case).
std::optional<std::string_view> HeaderValue(std::string_view line, std::string_view name) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !EqualsIgnoringCase(line.substr(0, colon), name)) {
    return {};
  }
  return TrimBlanks(line.substr(colon + 1));
}

}  // namespace

Transfer::Transfer(const CurlApi* api, CURLM* multi, Hop hop, Sink* sink)
    : api_(api), multi_(multi), hop_(std::move(hop)), sink_(sink) {}

Transfer::~Transfer() {
  if (added_) api_->multi_remove_handle(multi_, easy_);
  if (easy_ != nullptr) api_->easy_cleanup(easy_);
  api_->slist_free_all(pinned_);
}

Result<std::unique_ptr<Transfer>> Transfer::Start(const CurlApi* api, CURLM* multi, Hop hop,
                                                  Sink* sink) {
  std::unique_ptr<Transfer> transfer(new Transfer(api, multi, std::move(hop), sink));
  MMCPP_TRY(transfer->Configure());
  if (api->multi_add_handle(multi, transfer->easy_) != CURLM_OK) {
    return Error{ErrorCode::kInternal, "fetch: libcurl does not take the transfer"};
  }
  transfer->added_ = true;
  return transfer;
}

template <class T>
void Transfer::Set(CURLoption option, T value) {
  const CURLcode code = api_->easy_setopt(easy_, option, value);
  if (set_ == CURLE_OK) set_ = code;
}

// "host:port:address,address": what libcurl is to take for the answer of the name server.
std::string Transfer::PinnedAddresses() const {
  const bool proxied = hop_.proxy.has_value();
  const std::string host = proxied ? hop_.proxy->host : hop_.url.host;
  const uint16_t port = proxied ? hop_.proxy->port : hop_.url.port;
  std::string text = host + ":" + std::to_string(port) + ":";
  for (size_t i = 0; i < hop_.addresses.size(); ++i) {
    const IpAddress& address = hop_.addresses[i];
    if (i > 0) text += ",";
    text += address.v6 ? "[" + address.ToString() + "]" : address.ToString();
  }
  return text;
}

Status Transfer::Configure() {
  easy_ = api_->easy_init();
  if (easy_ == nullptr) return Error{ErrorCode::kOutOfMemory, "fetch: libcurl has no handle"};
  Set(CURLOPT_URL, hop_.url.ToString().c_str());
  Set(CURLOPT_HTTPGET, 1L);
  Set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  Set(CURLOPT_PATH_AS_IS, 1L);
  Set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
  Set(CURLOPT_FOLLOWLOCATION, 0L);
  Set(CURLOPT_NOSIGNAL, 1L);
  Set(CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(hop_.timeout.count())));
  Set(CURLOPT_ACCEPT_ENCODING, "gzip");
  Set(CURLOPT_USERAGENT, UserAgent().c_str());
  Set(CURLOPT_ERRORBUFFER, reason_);
  if (!hop_.ca_file.empty()) Set(CURLOPT_CAINFO, hop_.ca_file.c_str());
  if (hop_.url.credentials) {
    Set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    Set(CURLOPT_USERNAME, hop_.url.credentials->user.c_str());
    Set(CURLOPT_PASSWORD, hop_.url.credentials->password.c_str());
  }
  ConfigureProxy();
  if (!(hop_.proxy ? hop_.proxy->address : hop_.url.address)) {
    pinned_ = api_->slist_append(nullptr, PinnedAddresses().c_str());
    if (pinned_ == nullptr) return Error{ErrorCode::kOutOfMemory, "fetch: libcurl has no memory"};
    Set(CURLOPT_RESOLVE, pinned_);
  }
  Set(CURLOPT_WRITEFUNCTION, &OnBody);
  Set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  Set(CURLOPT_HEADERFUNCTION, &OnHeader);
  Set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  Set(CURLOPT_OPENSOCKETFUNCTION, &OnSocket);
  Set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
  if (set_ != CURLE_OK) {
    return Error{ErrorCode::kInternal,
                 std::string("fetch: libcurl refuses an option: ") + api_->easy_strerror(set_)};
  }
  return Ok{};
}

void Transfer::ConfigureProxy() {
  // Set even if there is none: otherwise libcurl reads the environment by its own rules.
  Set(CURLOPT_PROXY, hop_.proxy ? hop_.proxy->ToString().c_str() : "");
  Set(CURLOPT_NOPROXY, "");
  if (!hop_.proxy) return;
  Set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  if (hop_.proxy->credentials) {
    Set(CURLOPT_PROXYAUTH, static_cast<long>(CURLAUTH_BASIC));
    Set(CURLOPT_PROXYUSERNAME, hop_.proxy->credentials->user.c_str());
    Set(CURLOPT_PROXYPASSWORD, hop_.proxy->credentials->password.c_str());
  }
}

size_t Transfer::OnBody(char* data, size_t size, size_t count, void* self) {
  const Bytes bytes{reinterpret_cast<const uint8_t*>(data), size * count};
  return static_cast<Transfer*>(self)->TakeBody(bytes) ? bytes.size() : 0;
}

size_t Transfer::OnHeader(char* data, size_t size, size_t count, void* self) {
  const std::string_view line(data, size * count);
  return static_cast<Transfer*>(self)->TakeHeader(line) ? line.size() : 0;
}

curl_socket_t Transfer::OnSocket(void* self, curlsocktype, curl_sockaddr* address) {
  return static_cast<Transfer*>(self)->OpenSocket(*address);
}

// The last word on where a connection goes: whatever libcurl looked up, only checked addresses
// pass.
curl_socket_t Transfer::OpenSocket(const curl_sockaddr& to) {
  const auto address = AddressOf(to);
  const auto& pinned = hop_.addresses;
  if (!address || std::find(pinned.begin(), pinned.end(), *address) == pinned.end()) {
    error_ = Forbidden("policy: a connection to an address that was not checked");
    return CURL_SOCKET_BAD;
  }
  return socket(to.family, to.socktype | SOCK_CLOEXEC, to.protocol);
}

bool Transfer::TakeHeader(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > kMaxHeaderBytes) {
    error_ =
        LimitExceeded("fetch: more than " + std::to_string(kMaxHeaderBytes) + " bytes of headers");
    return false;
  }
  // Each answer begins anew, a 100 Continue included.
  if (StartsWith(line, "HTTP/")) {
    answer_.location.reset();
    head_complete_ = encoded_ = false;
  } else if (line == "\r\n" || line == "\n") {
    head_complete_ = true;
  } else if (const auto location = HeaderValue(line, "location")) {
    answer_.location = std::string(*location);
  } else if (HeaderValue(line, "content-encoding")) {
    encoded_ = true;
  }
  return true;
}

bool Transfer::TakeBody(Bytes bytes) {
  api_->easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &answer_.status);
  if (answer_.status / 100 != 2) {
    skipped_bytes_ += bytes.size();
    return skipped_bytes_ <= kMaxSkippedBytes;
  }
  curl_off_t length = -1;
  api_->easy_getinfo(easy_, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  if (length > 0 && !encoded_) sink_->Expect(static_cast<uint64_t>(length));
  auto appended = sink_->Append(bytes);
  if (!appended.ok()) error_ = std::move(appended).error();
  return !error_;
}

Result<Answer> Transfer::Finish(CURLcode code) {
  if (error_) return *std::move(error_);
  api_->easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &answer_.status);
  // A status that is no success needs no whole body.
  const bool judged = code == CURLE_OK || (code == CURLE_WRITE_ERROR && answer_.status >= 300);
  const std::string what = hop_.url.scheme + "://" + hop_.url.BracketedHost() + ": ";
  // libcurl takes a connection that ends within the headers for an empty body.
  if (judged && !head_complete_) return FetchFailed("fetch: " + what + "the headers are cut short");
  if (judged) return answer_;
  if (code == CURLE_OPERATION_TIMEDOUT) return FetchFailed("fetch: " + what + "timed out");
  return FetchFailed("fetch: " + what + (reason_[0] != '\0' ? reason_ : api_->easy_strerror(code)));
}

}  // namespace mmcpp::fetch
