// One request is one answer: tensors, or a status with a body that names item, stage and reason.
#include "service.h"

#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "metrics.h"
#include "mmcpp/driver.h"
#include "request.h"
#include "safetensors.h"
#include "workers.h"

namespace mmcpp::server {
namespace {

using Clock = std::chrono::steady_clock;

double Milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

/// A thread for each connection, and a limit, beyond which the kernel's own backlog waits. Threads
/// that stay would each keep what the allocator caches for them.
class ConnectionThreads : public httplib::TaskQueue {
 public:
  explicit ConnectionThreads(size_t limit) : limit_(limit) {}
  void enqueue(std::function<void()> task) override {
    std::unique_lock<std::mutex> lock(state_->mutex);
    state_->ended.wait(lock, [this] { return state_->running < limit_; });
    ++state_->running;
    lock.unlock();
    try {
      std::thread([task, state = state_] { Run(task, *state); }).detach();
    } catch (const std::system_error&) {
      Run(task, *state_);  // the system has no more threads
    }
  }
  void shutdown() override {
    std::unique_lock<std::mutex> lock(state_->mutex);
    state_->ended.wait(lock, [this] { return state_->running == 0; });
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable ended;
    size_t running = 0;
  };
  static void Run(const std::function<void()>& task, State& state) {
    task();
    const std::lock_guard<std::mutex> lock(state.mutex);
    --state.running;
    state.ended.notify_all();
  }

  const size_t limit_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

class HttpServer : public httplib::Server {
 public:
  /// httplib lets five connections wait, and the sixth try again after seconds.
  void WidenBacklog() { ::listen(svr_sock_, SOMAXCONN); }
};

struct Refusal {
  int status = 500;
  std::string code;
  Error error;
};

int StatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnsupported:
      return 415;
    case ErrorCode::kLimitExceeded:
      return 413;
    case ErrorCode::kForbidden:
      return 422;
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kCancelled:
      return 503;
    case ErrorCode::kInternal:
      return 500;
    default:
      return 400;
  }
}

Refusal Refuse(Error error) {
  const int status = StatusOf(error.code);
  // A bug's text is for the operator.
  if (error.code == ErrorCode::kInternal) error.message = "server: internal error";
  return {status, ErrorCodeName(error.code), std::move(error)};
}

Refusal Busy(const char* what) {
  return {503, "busy", Error{ErrorCode::kOutOfMemory, std::string("server: ") + what}};
}

/// "image 2: jpeg: ends early" to "jpeg" and "ends early".
std::pair<std::string, std::string> StageAndReason(const Error& error) {
  std::string reason = error.message;
  const auto cut = [&reason]() -> std::string {
    const size_t colon = reason.find(": ");
    if (colon == std::string::npos) return "request";
    std::string head = reason.substr(0, colon);
    reason.erase(0, colon + 2);
    return head;
  };
  if (error.item >= 0) cut();
  std::string stage = cut();
  return {std::move(stage), std::move(reason)};
}

void Write(const Refusal& refusal, httplib::Response* http) {
  const auto [stage, reason] = StageAndReason(refusal.error);
  nlohmann::json body;
  body["error"] = {{"code", refusal.code}, {"stage", stage}, {"reason", reason}};
  body["error"]["item"] = nullptr;
  if (refusal.error.item >= 0) body["error"]["item"] = refusal.error.item;
  http->status = refusal.status;
  if (refusal.status == 503) http->set_header("Retry-After", "1");
  http->set_content(body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                    "application/json");
}

/// Counts a request until its last byte is written or given up.
class InFlight {
 public:
  explicit InFlight(std::atomic<int>* count) : count_(count) { ++*count_; }
  ~InFlight() { --*count_; }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

 private:
  std::atomic<int>* count_;
};

/// A response and what is said about it on the wire.
struct Answer {
  Response response;
  std::vector<int64_t> offsets, hashes;
  Safetensors tensors;
};

/// An item's feature, or the tensors that it holds one behind another.
void AddFeature(const Family& family, const OutputItem& item, const std::string& suffix,
                Safetensors* tensors) {
  const Tensor& feature = item.feature;
  if (item.plan.feature_parts.empty()) tensors->Add(family.feature_name() + suffix, feature);
  const uint8_t* data = feature.data();
  for (const FeaturePart& part : item.plan.feature_parts) {
    tensors->Add(part.name + suffix, feature.dtype(), part.shape, data);
    size_t bytes = DTypeSize(feature.dtype());
    for (const int64_t side : part.shape) bytes *= static_cast<size_t>(side);
    data += bytes;
  }
}

void Describe(const Family& family, Answer* answer) {
  const Response& response = answer->response;
  const auto length = static_cast<int64_t>(response.input_ids.size());
  const auto count = static_cast<int64_t>(response.items.size());
  Safetensors& tensors = answer->tensors;
  tensors.Add("input_ids", DType::kI64, {length}, response.input_ids.data());
  for (const TokenRange& range : response.offsets) {
    answer->offsets.push_back(range.first);
    answer->offsets.push_back(range.last);
  }
  tensors.Add("offsets", DType::kI64, {count, 2}, answer->offsets.data());
  for (const OutputItem& item : response.items) {
    answer->hashes.push_back(static_cast<int64_t>(item.content_hash));
  }
  tensors.Add("content_hashes", DType::kI64, {count}, answer->hashes.data());
  for (size_t i = 0; i < response.items.size(); ++i) {
    const std::string suffix = "." + std::to_string(i);
    AddFeature(family, response.items[i], suffix, &tensors);
    for (const NamedTensor& aux : response.items[i].aux) tensors.Add(aux.name + suffix, aux.tensor);
  }
  if (const auto* rope = std::get_if<MRope>(&response.positions)) {
    tensors.Add("position_ids", rope->position_ids);
    tensors.AddMetadata("position_delta", std::to_string(rope->delta));
  }
  tensors.Finish();
}

/// Bytes of the budget, given back at the end.
class Charge {
 public:
  explicit Charge(ByteBudget* budget) : budget_(budget) {}
  ~Charge() { budget_->Return(taken_); }
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;
  bool Take(uint64_t bytes) {
    if (!budget_->Take(bytes)) return false;
    taken_ += bytes;
    return true;
  }

 private:
  ByteBudget* budget_;
  uint64_t taken_ = 0;
};

}  // namespace

struct Service::Impl {
  Impl(std::unique_ptr<const Family> made, const Options& given)
      : family(std::move(made)),
        options(given),
        budget(given.max_bytes_in_flight),
        workers(given.workers != 0 ? given.workers
                                   : std::max<size_t>(1, std::thread::hardware_concurrency()),
                given.queue, given.pin) {}

  void Route();
  void Preprocess(const httplib::Request& http, httplib::Response* out,
                  const httplib::ContentReader& reader);
  Result<WireRequest> Read(const httplib::Request& http, const httplib::ContentReader& reader,
                           Charge* charge, bool* busy);
  Result<std::vector<Buffer>> Fetch(const WireRequest& wire) const;

  const std::unique_ptr<const Family> family;
  const Options options;
  const RequestLimits limits;
  ByteBudget budget;
  Metrics metrics;
  std::atomic<bool> stopping{false}, cancelled{false};
  Workers workers;
  HttpServer http;
};

/// The body, as far as limits, budget and time let it in. What is behind a limit is read and
/// dropped, so that the client hears why.
Result<WireRequest> Service::Impl::Read(const httplib::Request& request,
                                        const httplib::ContentReader& reader, Charge* charge,
                                        bool* busy) {
  const auto deadline = Clock::now() + options.body_timeout;
  size_t received = 0;
  bool late = false, large = false;
  WireRequest wire;
  Status fields = Ok{};
  std::string name, content;
  const auto accept = [&](const char* data, size_t size) {
    received += size;
    late = late || Clock::now() > deadline;
    large = large || received > options.max_request_bytes;
    if (!large && !*busy && !charge->Take(size)) *busy = true;
    if (!large && !*busy && fields.ok()) content.append(data, size);
    return !late;
  };
  const auto end_field = [&] {
    if (!name.empty() && fields.ok()) fields = AddField(name, std::move(content), limits, &wire);
    content.clear();
  };
  const bool form = request.is_multipart_form_data();
  const bool complete = form ? reader(
                                   [&](const httplib::MultipartFormData& field) {
                                     end_field();
                                     name = field.name.empty() ? "?" : field.name;
                                     return accept("", 0);
                                   },
                                   accept)
                             : reader(accept);
  metrics.bytes_in += received;
  if (large) {
    return Error{ErrorCode::kLimitExceeded,
                 "request: more than " + std::to_string(options.max_request_bytes) + " bytes"};
  }
  if (late) return Error{ErrorCode::kInvalidArgument, "request: the body took too long"};
  if (*busy) return Error{ErrorCode::kOutOfMemory, "server: too many bytes in flight"};
  if (!complete) return Error{ErrorCode::kInvalidArgument, "request: the body cannot be read"};
  if (form) {
    end_field();
    if (!fields.ok()) return fields.error();
  } else {
    auto parsed = ParseJson(content, limits);
    if (!parsed.ok()) return std::move(parsed).error();
    wire = *std::move(parsed);
  }
  const Status whole = CheckComplete(wire);
  if (!whole.ok()) return whole.error();
  return wire;
}

Result<std::vector<Buffer>> Service::Impl::Fetch(const WireRequest& wire) const {
  FetchGroup::Options fetch;
  fetch.max_total_bytes = limits.max_total_bytes;
  auto group = FetchGroup::Create(options.policy, fetch);
  if (!group.ok()) return std::move(group).error();
  for (const std::string& source : wire.images) group->Start(source);
  return group->Wait();
}

void Service::Impl::Preprocess(const httplib::Request& request, httplib::Response* out,
                               const httplib::ContentReader& reader) {
  const auto refuse = [&](const Refusal& refusal) {
    metrics.Count(refusal.code);
    Write(refusal, out);
  };
  Charge charge(&budget);
  bool busy = false;
  auto wire = Read(request, reader, &charge, &busy);
  out->status = -1;  // httplib's own verdict on the body, which Read has told in our words
  if (!wire.ok()) return refuse(busy ? Busy("too many bytes in flight") : Refuse(wire.error()));

  const auto start = Clock::now();
  std::vector<Buffer> fetched;
  std::vector<MediaSource> media;
  if (request.is_multipart_form_data()) {
    for (const std::string& image : wire->images) {
      media.emplace_back(Bytes(reinterpret_cast<const uint8_t*>(image.data()), image.size()));
    }
  } else {
    auto buffers = Fetch(*wire);
    if (!buffers.ok()) return refuse(Refuse(buffers.error()));
    fetched = *std::move(buffers);
    for (const Buffer& buffer : fetched) media.emplace_back(Bytes(buffer.data(), buffer.size()));
  }
  const auto fetch_end = Clock::now();

  // The answer outlives this call: it is written from the tensors' own memory.
  auto answer = std::make_shared<Answer>();
  const auto in_flight = std::make_shared<InFlight>(&metrics.in_flight);
  Clock::time_point begun;
  std::promise<Status> promise;
  const bool taken = workers.Submit([&] {
    begun = Clock::now();
    ProcessOptions process;
    process.dtype = wire->dtype;
    process.limits = limits;
    process.deadline = start + options.deadline;  // time in the queue counts
    process.cancelled = &cancelled;
    auto response = Process(*family, {wire->input_ids, media, process});
    if (!response.ok()) return promise.set_value(response.error());
    answer->response = *std::move(response);
    promise.set_value(Ok{});
  });
  if (!taken) return refuse(Busy("all workers are busy and the queue is full"));
  const Status status = promise.get_future().get();
  if (!status.ok()) return refuse(Refuse(status.error()));

  Describe(*family, answer.get());
  metrics.Count("ok");
  metrics.Add(answer->response, Milliseconds(fetch_end - start), Milliseconds(begun - fetch_end));
  metrics.bytes_out += answer->tensors.size();
  out->status = 200;
  out->set_content_provider(
      answer->tensors.size(), "application/octet-stream",
      [answer, in_flight](size_t offset, size_t length, httplib::DataSink& sink) {
        const Bytes piece = answer->tensors.At(offset);
        return sink.write(reinterpret_cast<const char*>(piece.data()),
                          std::min(length, piece.size()));
      });
}

void Service::Impl::Route() {
  http.new_task_queue = [this] { return new ConnectionThreads(options.connections); };
  // One request a connection: a body that was given up on is never taken for the next request.
  http.set_keep_alive_max_count(1);
  http.set_read_timeout(options.body_timeout);
  http.set_write_timeout(std::chrono::seconds(10));
  http.set_tcp_nodelay(true);
  http.Get("/healthz", [this](const httplib::Request&, httplib::Response& out) {
    if (stopping) return Write(Busy("stopping"), &out);
    out.set_content("ok\n", "text/plain");
  });
  http.Get("/metrics", [this](const httplib::Request&, httplib::Response& out) {
    out.set_content(metrics.Text(workers.depth()), "text/plain; version=0.0.4");
  });
  http.Post("/v1/preprocess", [this](const httplib::Request& request, httplib::Response& out,
                                     const httplib::ContentReader& reader) {
    const InFlight in_flight(&metrics.in_flight);
    if (stopping) {
      metrics.Count("busy");
      return Write(Busy("stopping"), &out);
    }
    try {
      Preprocess(request, &out, reader);
    } catch (const std::bad_alloc&) {
      metrics.Count("out_of_memory");
      Write(Refuse({ErrorCode::kOutOfMemory, "server: out of memory"}), &out);
    }
  });
  http.set_error_handler([](const httplib::Request&, httplib::Response& out) {
    if (!out.body.empty() || out.status == 200) return;
    Error error{ErrorCode::kInvalidArgument,
                out.status == 404 ? "http: no such path" : "http: the request cannot be read"};
    Write({out.status, "http", std::move(error)}, &out);
  });
  http.set_exception_handler(
      [](const httplib::Request&, httplib::Response& out, const std::exception_ptr&) {
        Write(Refuse({ErrorCode::kInternal, ""}), &out);
      });
}

Service::Service(std::unique_ptr<const Family> family, const Options& options)
    : impl_(std::make_unique<Impl>(std::move(family), options)) {
  impl_->Route();
}
Service::~Service() = default;

int Service::Bind() {
  const Options& options = impl_->options;
  int port = options.port;
  if (port == 0) {
    port = impl_->http.bind_to_any_port(options.host);
  } else if (!impl_->http.bind_to_port(options.host, port)) {
    port = -1;
  }
  if (port > 0) impl_->http.WidenBacklog();
  return port;
}
void Service::Serve() { impl_->http.listen_after_bind(); }
void Service::Stop() {
  impl_->stopping = true;
  // httplib's stop cuts answers that are being written.
  const auto deadline = Clock::now() + std::chrono::seconds(30);
  while (impl_->metrics.in_flight > 0 && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  impl_->cancelled = true;
  impl_->http.stop();
}

}  // namespace mmcpp::server
