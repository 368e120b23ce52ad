// A program that lets scripts see what the library makes of encoded bytes, without the Python
// package. Per request it reads "PROFILE SIZE\n" and SIZE bytes, and writes "ok HEIGHT WIDTH\n" and
// the RGB bytes, or "error CODE MESSAGE\n". With "info" for a profile it writes the header's
// fields.
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "mmcpp/image.h"

int main() {
  std::string profile;
  for (size_t size = 0; std::cin >> profile >> size;) {
    std::cin.ignore(1);
    std::vector<char> data(size);
    std::cin.read(data.data(), static_cast<std::streamsize>(size));
    const mmcpp::Bytes bytes(reinterpret_cast<const uint8_t*>(data.data()), size);
    mmcpp::Error error;
    if (profile == "info") {
      const auto info = mmcpp::ReadImageInfo(bytes);
      if (info.ok()) {
        std::printf("ok %s %d %d %s %d %d %d %d\n", mmcpp::ImageFormatName(info->format),
                    info->height, info->width, info->mode.c_str(), info->bit_depth,
                    info->has_alpha ? 1 : 0, info->orientation, info->frames);
      } else {
        error = info.error();
      }
    } else {
      const auto image = mmcpp::DecodeImage(bytes, mmcpp::DecodeProfile(profile).value());
      if (image.ok()) {
        std::printf("ok %d %d\n", image->height(), image->width());
        std::fwrite(image->data(), 1, image->row_bytes() * static_cast<size_t>(image->height()),
                    stdout);
      } else {
        error = image.error();
      }
    }
    if (!error.message.empty()) {
      std::printf("error %s %s\n", mmcpp::ErrorCodeName(error.code), error.message.c_str());
    }
    std::fflush(stdout);
  }
  return 0;
}
