// What an embedder writes first; README.md shows these lines. A picture of 2 by 2 pixels goes
// through a whole request.
#include <mmcpp/mmcpp.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

// A BMP of 24 bits, bottom row first, each row padded to 4 bytes.
std::vector<uint8_t> SmallPicture() {
  std::vector<uint8_t> file = {
      'B', 'M', 70, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0,  // file header, pixels at 54
      40,  0,   0,  0, 2, 0, 0, 0, 2, 0, 0,  0, 1, 0, 24, 0};
  file.resize(54);
  for (int row = 0; row < 2; ++row) file.insert(file.end(), {0, 0, 255, 0, 255, 0, 0, 0});
  return file;
}

int Refuse(const mmcpp::Error&) { return 1; }

}  // namespace

int main() {
  const std::string spec =
      R"({"family": "qwen_vl", "image_token_id": 7, "patch_size": 14, "merge_size": 2,
          "temporal_patch_size": 2, "min_pixels": 3136, "max_pixels": 12845056,
          "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]})";
  const std::vector<int64_t> prompt = {1, 7, 2};
  const std::vector<uint8_t> file = SmallPicture();

  const auto family = mmcpp::FamilyFromSpec(spec);  // once; then from any thread:
  if (!family.ok()) return Refuse(family.error());
  const mmcpp::MediaSource pictures[] = {mmcpp::Bytes(file)};
  const mmcpp::Request request{prompt, {pictures, 1}, {}};
  const auto response = mmcpp::Process(**family, request);
  if (!response.ok()) return Refuse(response.error());  // code, message, index of the picture

  const bool expanded = response->input_ids == std::vector<int64_t>{1, 7, 7, 7, 7, 2};
  return expanded && response->items[0].feature.shape() == std::vector<int64_t>{16, 1176} ? 0 : 1;
}
