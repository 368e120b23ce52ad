// Reads a file only after the descriptor, not the name, has been found to be below an allowed
// folder.
#include "fetch/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/ensure.h"
#include "fetch/url.h"

namespace mmcpp::fetch {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// "/a/./b//../c" to "/a/c", by the text alone.
std::string Normalize(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  std::string out;
  for (const std::string_view part : parts) out.append("/").append(part);
  return out.empty() ? "/" : out;
}

bool IsBelowRoot(const std::string& path, const Policy& policy) {
  const auto& roots = policy.file_roots();
  // A root has no slash at its end, so that "/data" does not hold "/database".
  return std::any_of(roots.begin(), roots.end(),
                     [&path](const std::string& root) { return StartsWith(path, root + "/"); });
}

Error NotAllowed() { return Forbidden("policy: the file is not below an allowed folder"); }

Error SystemError(const char* what, int error) {
  return FetchFailed(std::string("file: ") + what + ": " + std::generic_category().message(error));
}

// Where an open file really is.
Result<std::string> PlaceOf(const std::string& link) {
  std::string place(4096, '\0');
  const ssize_t length = readlink(link.c_str(), place.data(), place.size());
  if (length <= 0 || static_cast<size_t>(length) == place.size()) return NotAllowed();
  place.resize(static_cast<size_t>(length));
  return place;
}

Status ReadAll(int fd, Sink* sink) {
  std::vector<uint8_t> chunk(size_t{256} << 10);
  while (true) {
    const ssize_t got = read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("cannot be read", errno);
    if (got == 0) return Ok{};
    MMCPP_TRY(sink->Append({chunk.data(), static_cast<size_t>(got)}));
  }
}

}  // namespace

Result<std::string> FilePath(std::string_view source) {
  std::string path;
  if (StartsWith(source, "/")) {
    path = std::string(source);
  } else {
    std::string_view rest = source.substr(std::string_view("file:").size());
    if (StartsWith(rest, "//")) {
      rest.remove_prefix(2);
      const std::string_view host = rest.substr(0, rest.find('/'));
      if (!host.empty() && !EqualsIgnoringCase(host, "localhost")) {
        return BadSource("file: a file URL names no other host: file:///path");
      }
      rest.remove_prefix(host.size());
    }
    auto decoded = PercentDecode(rest);
    if (!decoded) return BadSource("file: malformed escape in the URL");
    path = *std::move(decoded);
  }
  if (path.empty() || path.front() != '/') return BadSource("file: the path is not absolute");
  if (path.find('\0') != std::string::npos) return BadSource("file: NUL in the path");
  return path;
}

Status ReadFile(const std::string& given, const Policy& policy, Sink* sink) {
  MMCPP_TRY(policy.CheckScheme("file"));
  const std::string path = Normalize(given);
  // Outside, not even whether a file exists is told.
  if (!IsBelowRoot(path, policy)) return NotAllowed();
  // O_PATH opens without the effects that opening a device or a FIFO has.
  const Descriptor place(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (place.get() < 0) return SystemError("cannot be opened", errno);
  const std::string link = "/proc/self/fd/" + std::to_string(place.get());
  MMCPP_ASSIGN(const std::string real, PlaceOf(link));
  if (!IsBelowRoot(real, policy)) return NotAllowed();
  struct stat status {};
  if (fstat(place.get(), &status) != 0) return SystemError("cannot be examined", errno);
  if (!S_ISREG(status.st_mode)) return FetchFailed("file: not a regular file");
  // Through the descriptor, so that this is the file that was looked at.
  const Descriptor file(open(link.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (file.get() < 0) return SystemError("cannot be opened", errno);
  sink->Expect(static_cast<uint64_t>(status.st_size));
  return ReadAll(file.get(), sink);
}

}  // namespace mmcpp::fetch
