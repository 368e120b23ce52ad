// What a request costs in memory besides its input, its pixels and its output. This program counts
// every allocation, of the codec libraries too, so it is one of its own; each case runs in a child,
// where nothing waits from an earlier one.
#include <gtest/gtest.h>
#include <malloc.h>
// jpeglib.h uses what the headers before it declare.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "mmcpp/driver.h"
#include "mmcpp/registry.h"
#include "support/pictures.h"
#include "support/png_builder.h"
#include "support/specs.h"

namespace {

// The program has one thread.
size_t g_live = 0, g_peak = 0;

// malloc_usable_size has the room that alignment left unused, which costs addresses but no memory.
struct Aligned {
  void* memory;
  size_t size;
};
Aligned g_aligned[64] = {};

size_t SizeOf(void* memory) {
  for (const Aligned& aligned : g_aligned) {
    if (aligned.memory == memory && memory != nullptr) return aligned.size;
  }
  return malloc_usable_size(memory);
}

void* Count(void* memory) {
  g_live += SizeOf(memory);
  if (g_live > g_peak) g_peak = g_live;
  return memory;
}
void Uncount(void* memory) {
  g_live -= SizeOf(memory);
  for (Aligned& aligned : g_aligned) {
    if (aligned.memory == memory) aligned = {};
  }
}
void* CountAligned(void* memory, size_t size) {
  for (Aligned& aligned : g_aligned) {
    if (aligned.memory != nullptr) continue;
    aligned = {memory, size};
    break;
  }
  return Count(memory);
}

}  // namespace

// glibc's own names of what is counted here. Hidden, as the build has them, they would not be seen
// by the libraries: libstdc++ 14 aligns by posix_memalign.
#pragma GCC visibility push(default)
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t size) { return Count(__libc_malloc(size)); }
void* calloc(size_t n, size_t size) { return Count(__libc_calloc(n, size)); }
void* realloc(void* memory, size_t size) {
  Uncount(memory);
  return Count(__libc_realloc(memory, size));
}
void* memalign(size_t alignment, size_t size) {
  return CountAligned(__libc_memalign(alignment, size), size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** memory, size_t alignment, size_t size) {
  *memory = memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
void free(void* memory) {
  Uncount(memory);
  __libc_free(memory);
}

// A large block is mapped, cut at its ends to what was asked for, and then advised.
void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  g_live += size;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): what the call gives
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, size, protection, flags, file, offset));
}
int munmap(void* memory, size_t size) noexcept {
  g_live -= size;
  return static_cast<int>(syscall(SYS_munmap, memory, size));
}
int madvise(void* memory, size_t size, int advice) noexcept {
  if (g_live > g_peak) g_peak = g_live;
  return static_cast<int>(syscall(SYS_madvise, memory, size, advice));
}
}
#pragma GCC visibility pop

namespace mmcpp {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr int kHeight = 1500, kWidth = 2000;
constexpr size_t kPixels = size_t{kHeight} * kWidth * 3;

/// The most bytes that were in use at once while `body` ran, above those before.
size_t PeakOf(const std::function<void()>& body) {
  const size_t before = g_live;
  g_peak = before;
  body();
  return g_peak - before;
}

/// Runs a case in a child, which tells of failures itself.
void InChild(const std::function<void()>& body) {
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    body();
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

std::vector<uint8_t> Jpeg(const ImageView& image, bool progressive) {
  jpeg_compress_struct codec;
  jpeg_error_mgr errors;
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&codec, &data, &size);
  codec.image_width = static_cast<JDIMENSION>(image.width);
  codec.image_height = static_cast<JDIMENSION>(image.height);
  codec.input_components = 3;
  codec.in_color_space = JCS_RGB;
  jpeg_set_defaults(&codec);
  if (progressive) jpeg_simple_progression(&codec);
  jpeg_start_compress(&codec, TRUE);
  for (int y = 0; y < image.height; ++y) {
    JSAMPROW row = const_cast<uint8_t*>(image.row(y));
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  std::vector<uint8_t> bytes(data, data + size);
  jpeg_destroy_compress(&codec);
  std::free(data);
  return bytes;
}

std::vector<uint8_t> Png(const ImageView& image) {
  const size_t row = static_cast<size_t>(image.width) * 3;
  std::vector<uint8_t> rows;
  for (int y = 0; y < image.height; ++y) {
    rows.push_back(0);
    rows.insert(rows.end(), image.row(y), image.row(y) + row);
  }
  uLongf size = compressBound(rows.size());
  std::vector<uint8_t> stream(size);
  EXPECT_EQ(compress2(stream.data(), &size, rows.data(), rows.size(), 1), Z_OK);
  stream.resize(size);
  return test::Joined({test::PngSignature(), test::PngHeaderChunk(image.height, image.width, 8, 2),
                       test::Chunk("IDAT", stream), test::Chunk("IEND", {})});
}

class Memory : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { picture_ = new test::Picture(kHeight, kWidth); }
  static ImageView view() { return picture_->view(); }

  static void ExpectDecode(const std::vector<uint8_t>& bytes, size_t extra) {
    InChild([&] {
      const size_t peak = PeakOf([&] { ASSERT_TRUE(DecodeImage(bytes).ok()); });
      EXPECT_GE(peak, kPixels) << "nothing was counted";
      EXPECT_LE(peak, kPixels + bytes.size() + extra);
    });
  }

  /// A request at 512x512 pixels, whose features are 6 MiB.
  static void ExpectRequest(const MediaSource& source, size_t extra) {
    nlohmann::json spec = test::QwenVlSpec();
    spec["max_pixels"] = 512 * 512;
    ExpectRequest(spec, source, extra);
  }

  static void ExpectRequest(const nlohmann::json& spec, const MediaSource& source, size_t extra) {
    const auto family = FamilyFromSpec(spec.dump());
    ASSERT_TRUE(family.ok()) << family.error().message;
    InChild([&] {
      size_t result = 0;
      const size_t peak = PeakOf([&] {
        const auto batch = ProcessItems(**family, {&source, 1}, {});
        ASSERT_TRUE(batch.ok()) << batch.error().message;
        result = batch->features.byte_count();
        for (const auto& aux : batch->items[0].aux) result += aux.tensor.byte_count();
      });
      EXPECT_GE(peak, result);
      EXPECT_LE(peak, result + extra) << "besides a result of " << result;
    });
  }

  static const test::Picture* picture_;
};
const test::Picture* Memory::picture_ = nullptr;

TEST_F(Memory, OfADecodeIsThePixelsAndLittleMore) {
  ExpectDecode(Jpeg(view(), false), 2 * kMiB);
  ExpectDecode(Png(view()), 2 * kMiB);
  ExpectDecode(test::EncodeBmp(view()), 2 * kMiB);
}

// libjpeg keeps all coefficients, two bytes each: half as many as samples with 4:2:0.
TEST_F(Memory, OfAProgressiveDecodeHasTheCoefficientsToo) {
  const std::vector<uint8_t> jpeg = Jpeg(view(), true);
  ExpectDecode(jpeg, kPixels + 2 * kMiB);
  ExpectRequest(Bytes(jpeg), kPixels + 2 * kMiB);
}

// No picture as a whole: less than half of one would be more than this.
TEST_F(Memory, OfARequestIsAFewRows) {
  ExpectRequest(view(), 2 * kMiB);
  const std::vector<uint8_t> jpeg = Jpeg(view(), false), bmp = test::EncodeBmp(view());
  ExpectRequest(Bytes(jpeg), 2 * kMiB);
  ExpectRequest(Bytes(bmp), 2 * kMiB);
}

// Canvases, too: padded, in the middle, under a picture with alpha, and under tiles and an
// overview.
TEST_F(Memory, OfAPictureOnACanvasIsAFewRows) {
  const nlohmann::json qwen = test::QwenVlSpec();
  nlohmann::json kimi = {{"family", "qwen_vl"},
                         {"smart_resize", "navit"},
                         {"image_token_id", 9},
                         {"patch_size", 14},
                         {"merge_size", 2},
                         {"temporal_patch_size", 1},
                         {"max_patches", 4096},
                         {"max_patches_per_side", 512},
                         {"patch_order", "raster_4d"},
                         {"positions", "plain"},
                         {"image_mean", qwen["image_mean"]},
                         {"image_std", qwen["image_std"]}};
  const std::vector<uint8_t> jpeg = Jpeg(view(), false);
  ExpectRequest(kimi, view(), 2 * kMiB);
  ExpectRequest(kimi, Bytes(jpeg), 2 * kMiB);
  const nlohmann::json dsv41 = {{"family", "dsv41"},         {"image_token_id", 9},
                                {"vision_patch_size", 14},   {"vision_downsample_ratio", 3},
                                {"vision_min_pixels", 6272}, {"vision_max_n_token", 1000}};
  ExpectRequest(dsv41, Bytes(jpeg), 2 * kMiB);
  nlohmann::json kimi_k3 = {{"family", "kimi_k3"},
                            {"image_token_id", 9},
                            {"patch_size", 14},
                            {"merge_kernel_size", 2},
                            {"in_patch_limit", 16384},
                            {"patch_limit_on_one_side", 512},
                            {"background", "chessboard"},
                            {"image_mean", {0.5, 0.5, 0.5}},
                            {"image_std", {0.5, 0.5, 0.5}}};
  const test::Picture rgba(kHeight, kWidth / 3 * 4);
  const ImageView transparent = {rgba.pixels.data(), kHeight, kWidth / 3 * 3,
                                 static_cast<size_t>(kWidth / 3 * 4) * 3, 4};
  ExpectRequest(kimi_k3, transparent, 3 * kMiB);  // at its own size
  kimi_k3["in_patch_limit"] = 4096;
  ExpectRequest(kimi_k3, transparent, 3 * kMiB);
  const nlohmann::json phi4 = {{"family", "phi4_multimodal"},
                               {"image_token_id", 9},
                               {"tile_size", 448},
                               {"patch_size", 14},
                               {"max_tiles", 36},
                               {"image_mean", {0.5, 0.5, 0.5}},
                               {"image_std", {0.5, 0.5, 0.5}}};
  ExpectRequest(phi4, view(), 2 * kMiB);
  ExpectRequest(phi4, Bytes(jpeg), kPixels + 3 * kMiB);
}

// Three resizes, each of the one before.
TEST_F(Memory, OfAPictureResizedThriceIsAFewRows) {
  const nlohmann::json smolvlm = {{"family", "idefics3"},
                                  {"image_token_id", 9},
                                  {"tokens_per_tile", 64},
                                  {"longest_edge", 2048},
                                  {"tile_size", 512},
                                  {"fake_token_ids", {6}},
                                  {"global_token_ids", {7}},
                                  {"row_column_token_ids", std::vector<int>(36, 8)},
                                  {"mark_columns", 6},
                                  {"row_end_token_ids", {8}},
                                  {"last_row_end_token_ids", {9}},
                                  {"image_mean", {0.5, 0.5, 0.5}},
                                  {"image_std", {0.5, 0.5, 0.5}}};
  ExpectRequest(smolvlm, view(), 4 * kMiB);
  ExpectRequest(smolvlm, Bytes(Jpeg(view(), false)), 4 * kMiB);
}

// PNG's pixels count only once the whole stream is known to be sound.
TEST_F(Memory, OfARequestWithAPngIsTheInflatedStreamToo) {
  const std::vector<uint8_t> png = Png(view());
  ExpectRequest(Bytes(png), kPixels + 4 * kMiB);
}

}  // namespace
}  // namespace mmcpp
