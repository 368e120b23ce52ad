// A web server on loopback for tests: each request head goes to a handler that writes whatever it
// likes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace mmcpp::test {

/// A value that the test sets and handlers read.
template <class T>
class Shared {
 public:
  Shared() = default;
  explicit Shared(T value) : value_(std::move(value)) {}
  void operator=(T value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    value_ = std::move(value);
  }
  T get() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  T value_{};
};

/// One accepted connection, as the handler sees it.
class Connection {
 public:
  explicit Connection(int fd) : fd_(fd) {}

  bool Send(const std::string& bytes) {
    size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t count = send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return open_ = false;
      sent += static_cast<size_t>(count);
    }
    return true;
  }
  /// Status 200 and the body, with its length.
  bool SendBody(const std::string& body, const std::string& more_headers = "") {
    return Send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
                more_headers + "\r\n" + body);
  }
  bool Redirect(const std::string& location, int status = 302) {
    return Send("HTTP/1.1 " + std::to_string(status) +
                " Moved\r\nContent-Length: 4\r\nLocation: " + location + "\r\n\r\nhere");
  }
  /// True if the other side closed within the time.
  bool ClosedWithin(int milliseconds) {
    pollfd poll_fd{fd_, POLLIN | POLLRDHUP, 0};
    return poll(&poll_fd, 1, milliseconds) > 0 && (poll_fd.revents & (POLLRDHUP | POLLHUP)) != 0;
  }
  void Close() { open_ = false; }
  bool open() const { return open_; }

 private:
  int fd_;
  bool open_ = true;
};

class HttpServer {
 public:
  using Handler = std::function<void(const std::string& head, Connection& connection)>;

  explicit HttpServer(Handler handler, const char* address = "127.0.0.1")
      : handler_(std::move(handler)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    inet_pton(AF_INET, address, &where.sin_addr);
    socklen_t size = sizeof where;
    bind(listener_, reinterpret_cast<sockaddr*>(&where), size);
    listen(listener_, 64);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&where), &size);
    port_ = ntohs(where.sin_port);
    acceptor_ = std::thread([this] { Accept(); });
  }

  ~HttpServer() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const int fd : fds_) shutdown(fd, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    for (const int fd : fds_) close(fd);
    close(listener_);
  }

  int port() const { return port_; }
  std::string Url(const std::string& path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  size_t connections() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return fds_.size();
  }
  /// The heads of all requests so far.
  std::vector<std::string> heads() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return heads_;
  }

 private:
  void Accept() {
    while (true) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      const std::lock_guard<std::mutex> lock(mutex_);
      fds_.push_back(fd);
      threads_.emplace_back([this, fd] { Serve(fd); });
    }
  }

  void Serve(int fd) {
    Connection connection(fd);
    std::string received;
    char chunk[4096];
    while (connection.open()) {
      const size_t end = received.find("\r\n\r\n");
      if (end == std::string::npos) {
        const ssize_t count = recv(fd, chunk, sizeof chunk, 0);
        if (count <= 0) break;
        received.append(chunk, static_cast<size_t>(count));
        continue;
      }
      const std::string head = received.substr(0, end + 4);
      received.erase(0, end + 4);
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        heads_.push_back(head);
      }
      handler_(head, connection);
    }
    shutdown(fd, SHUT_RDWR);
  }

  Handler handler_;
  int listener_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<int> fds_;
  std::vector<std::string> heads_;
  std::list<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace mmcpp::test
