// A program that lets scripts see what the library makes of files, without the Python package:
// reads one path per line, writes "ok HEIGHT WIDTH\n" and the RGB bytes, or "error CODE MESSAGE\n".
//   decode_tool [PROFILE] < paths
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "mmcpp/image.h"

int main(int argc, char** argv) {
  const auto options = mmcpp::DecodeProfile(argc > 1 ? argv[1] : "pillow");
  if (!options.ok()) {
    std::fprintf(stderr, "%s\n", options.error().message.c_str());
    return 2;
  }
  for (std::string path; std::getline(std::cin, path);) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    const auto image = mmcpp::DecodeImage(
        {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, *options);
    if (image.ok()) {
      std::printf("ok %d %d\n", image->height(), image->width());
      std::fwrite(image->data(), 1, image->row_bytes() * static_cast<size_t>(image->height()),
                  stdout);
    } else {
      std::printf("error %s %s\n", mmcpp::ErrorCodeName(image.error().code),
                  image.error().message.c_str());
    }
  }
  return 0;
}
