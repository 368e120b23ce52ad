// Local files: none without a folder, and nothing outside it by any route.
#include "fetch/file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace mmcpp::fetch {
namespace {

namespace fs = std::filesystem;

void Write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class LocalFile : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/mmcpp-file-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    top_ = fs::canonical(name);
    root_ = top_ / "media";
    fs::create_directories(root_ / "sub");
    fs::create_directories(top_ / "media-secret");
    Write(root_ / "a.png", "inside");
    Write(root_ / "sub/b c.png", "below");
    Write(root_ / "x%20y.png", "escaped");
    Write(top_ / "secret.png", "secret");
    Write(top_ / "media-secret/s.png", "secret");
    fs::create_symlink(top_ / "secret.png", root_ / "out.png");
    fs::create_symlink(top_, root_ / "up");
    fs::create_symlink(root_ / "a.png", root_ / "in.png");
    fs::create_symlink("loop.png", root_ / "loop.png");
    fs::create_symlink(root_, top_ / "link");
    policy_.file_roots = {root_.string()};
  }
  void TearDown() override { fs::remove_all(top_); }

  // The file's bytes, or the error's name and message.
  std::string Read(const std::string& source) {
    auto policy = Policy::Compile(policy_);
    if (!policy.ok()) return policy.error().message;
    auto path = FilePath(source);
    if (!path.ok()) return Text(path.error());
    Sink sink(policy_.max_bytes, &budget_);
    auto read = ReadFile(*path, *policy, &sink);
    if (!read.ok()) return Text(read.error());
    const Buffer buffer = sink.Take();
    return std::string(reinterpret_cast<const char*>(buffer.data()), buffer.size());
  }
  std::string Text(const Error& error) {
    EXPECT_EQ(error.message.find(top_.string()), std::string::npos) << "tells a path";
    return std::string(ErrorCodeName(error.code)) + ": " + error.message;
  }

  fs::path top_, root_;
  FetchPolicy policy_;
  ByteBudget budget_{1 << 20};
};

constexpr char kNotAllowed[] = "forbidden: policy: the file is not below an allowed folder";

TEST_F(LocalFile, ReadsBelowTheFolder) {
  const std::string root = root_.string();
  EXPECT_EQ(Read("file://" + root + "/a.png"), "inside");
  EXPECT_EQ(Read("FILE://" + root + "/a.png"), "inside");
  EXPECT_EQ(Read("file://localhost" + root + "/a.png"), "inside");
  EXPECT_EQ(Read("file:" + root + "/a.png"), "inside");
  EXPECT_EQ(Read("file:///" + root + "/a.png"), "inside");
  EXPECT_EQ(Read(root + "/a.png"), "inside");
  EXPECT_EQ(Read("//" + root + "//sub/..//./a.png"), "inside");
  EXPECT_EQ(Read("file://" + root + "/sub/b%20c.png"), "below");
  EXPECT_EQ(Read("file://" + root + "/sub/b c.png"), "below");
  EXPECT_EQ(Read("file://" + root + "/x%2520y.png"), "escaped");
  EXPECT_EQ(Read(root + "/x%20y.png"), "escaped");  // a path is not a URL
  EXPECT_EQ(Read(root + "/in.png"), "inside");
}

TEST_F(LocalFile, NothingOutsideByAnyRoute) {
  const std::string root = root_.string(), top = top_.string();
  for (const std::string& source : {
           top + "/secret.png",
           top + "/media-secret/s.png",
           root + "/../secret.png",
           root + "/sub/../../secret.png",
           root + "/out.png",
           root + "/up/secret.png",
           "file://" + root + "/%2e%2e/secret.png",
           "file://" + root + "/..%2fsecret.png",
           root,
           root + "/",
           std::string("/etc/hostname"),
           std::string("file:///etc/passwd"),
           std::string("/proc/self/environ"),
           std::string("/"),
           std::string("/dev/zero"),
           std::string("/nonexistent"),
           top + "/nonexistent",
       }) {
    EXPECT_EQ(Read(source), kNotAllowed) << source;
  }
}

TEST_F(LocalFile, NoneByDefault) {
  policy_.file_roots.clear();
  EXPECT_EQ(Read(root_.string() + "/a.png"), kNotAllowed);
  policy_.file_roots = {root_.string()};
  policy_.schemes = {"https"};
  EXPECT_EQ(Read(root_.string() + "/a.png"), "forbidden: policy: file sources are not allowed");
}

TEST_F(LocalFile, AFolderMayBeALinkAndHaveASlash) {
  policy_.file_roots = {(top_ / "link").string() + "/"};
  EXPECT_EQ(Read((top_ / "link/a.png").string()), "inside");
  EXPECT_EQ(Read((top_ / "media/a.png").string()), "inside");  // where the link leads
  EXPECT_EQ(Read((top_ / "link/out.png").string()), kNotAllowed);
  policy_.file_roots = {"/"};  // everything, when it is said
  EXPECT_EQ(Read((top_ / "secret.png").string()), "secret");
}

TEST_F(LocalFile, RegularFilesOnly) {
  ASSERT_EQ(mkfifo((root_ / "fifo").c_str(), 0600), 0);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (root_ / "socket").string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  for (const char* name : {"fifo", "socket", "sub"}) {
    EXPECT_EQ(Read((root_ / name).string()), "fetch_failed: file: not a regular file") << name;
  }
  close(listener);
  policy_.file_roots = {"/"};
  EXPECT_EQ(Read("/dev/zero"), "fetch_failed: file: not a regular file");
  EXPECT_EQ(Read((root_ / "missing").string()),
            "fetch_failed: file: cannot be opened: No such file or directory");
  EXPECT_EQ(Read((root_ / "loop.png").string()),
            "fetch_failed: file: cannot be opened: Too many levels of symbolic links");
}

TEST_F(LocalFile, LimitIsExact) {
  Write(root_ / "large", std::string(300'000, 'x'));
  policy_.max_bytes = 300'000;
  EXPECT_EQ(Read((root_ / "large").string()).size(), 300'000u);
  policy_.max_bytes = 299'999;
  EXPECT_EQ(Read((root_ / "large").string()), "limit_exceeded: fetch: more than 299999 bytes");
}

TEST_F(LocalFile, FilesWhoseSizeSaysNothingAreReadToTheEnd) {
  policy_.file_roots = {"/proc"};
  EXPECT_NE(Read("/proc/version").find("Linux"), std::string::npos);  // st_size is 0
}

TEST_F(LocalFile, BadUrls) {
  for (const char* source : {"file:", "file://", "file:rel", "file://rel", "file://example.com/a",
                             "file:///a%zz", "file:///a%00b"}) {
    EXPECT_EQ(Read(source).substr(0, 11), "bad_source:") << source;
  }
  EXPECT_EQ(Read(std::string("/a\0b", 4)).substr(0, 11), "bad_source:");
}

}  // namespace
}  // namespace mmcpp::fetch
