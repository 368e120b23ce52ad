// Asks the codec libraries for their versions.
#include "codec/versions.h"

#include <libdeflate.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
// jpeglib.h needs the two above.
#include <jpeglib.h>
#include <webp/decode.h>
#include <webp/demux.h>
#include <zlib.h>

namespace mmcpp::codec {
namespace {

std::string Dotted(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

/// libjpeg-turbo has no version function, but its messages hold
/// "libjpeg-turbo version 2.1.5 (build 20230203)".
std::string JpegVersion() {
  jpeg_error_mgr errors;
  jpeg_std_error(&errors);
  constexpr char kHead[] = "libjpeg-turbo version ";
  for (int i = 0; i <= errors.last_jpeg_message; ++i) {
    const char* message = errors.jpeg_message_table[i];
    if (message == nullptr || std::strncmp(message, kHead, sizeof kHead - 1) != 0) continue;
    const std::string version = message + sizeof kHead - 1;
    return version.substr(0, version.find(' '));
  }
  constexpr int kHeaders = LIBJPEG_TURBO_VERSION_NUMBER;  // 2001005 is 2.1.5
  return Dotted(kHeaders / 1'000'000, kHeaders / 1000 % 1000, kHeaders % 1000);
}

/// libwebp packs a version as 0xMMmmrr.
std::string WebpVersion(int packed) {
  return Dotted(packed >> 16, packed >> 8 & 255, packed & 255);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> LibraryVersions() {
  return {
      {"libjpeg-turbo", JpegVersion()},
      {"libwebp", WebpVersion(WebPGetDecoderVersion())},
      {"libwebpdemux", WebpVersion(WebPGetDemuxVersion())},
      {"libdeflate", LIBDEFLATE_VERSION_STRING},
      {"zlib", zlibVersion()},
  };
}

}  // namespace mmcpp::codec
