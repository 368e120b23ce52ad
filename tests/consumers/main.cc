// What an embedder writes first; README.md and cpp/docs/embed.md show these lines. A picture of 2
// by 2 pixels goes through a whole request.
#include <mmcpp/mmcpp.h>

#include <atomic>
#include <chrono>
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

// The same request by its picture's size alone: 0 if the prompts are equal.
int Plan(const mmcpp::Family& family, const std::vector<int64_t>& prompt,
         const std::vector<uint8_t>& file, const mmcpp::Response& response) {
  const auto info = mmcpp::ReadImageInfo(mmcpp::Bytes(file));
  if (!info.ok()) return Refuse(info.error());
  const mmcpp::PictureSize sizes[] = {{info->height, info->width}};
  const auto planned = mmcpp::PlanRequest(family, prompt, {sizes, 1});
  if (!planned.ok()) return Refuse(planned.error());
  return planned->input_ids == response.input_ids ? 0 : 1;
}

// Features in memory of the caller, within a time, and until another thread says stop.
int Fill(const mmcpp::Family& family, const std::vector<uint8_t>& file) {
  std::atomic<bool> client_is_gone{false};
  const mmcpp::MediaSource pictures[] = {mmcpp::Bytes(file)};

  mmcpp::ProcessOptions options;
  options.limits.max_items = 8;
  options.decode.limits.max_pixels = 40'000'000;
  options.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  options.cancelled = &client_is_gone;  // another thread may set it

  std::vector<float> memory(16 * 1176);
  const std::vector<int64_t> shape = {16, 1176};  // of Family::PlanItem
  const mmcpp::TensorView view{memory.data(), mmcpp::DType::kF32, shape};
  const auto items = mmcpp::ProcessItemsInto(family, {pictures, 1}, options, view);
  if (!items.ok()) return Refuse(items.error());
  return items->size() == 1 && memory.front() != 0 ? 0 : 1;
}

// Pictures that do not stand or fall together: the bad one has an error, the good one a feature.
int Each(const mmcpp::Family& family, const std::vector<uint8_t>& file) {
  const std::vector<uint8_t> damaged(file.begin(), file.begin() + 40);
  const mmcpp::MediaSource both[] = {mmcpp::Bytes(file), mmcpp::Bytes(damaged)};
  const auto results = mmcpp::ProcessEach(family, {both, 2}, {});
  if (!results.ok()) return Refuse(results.error());
  const mmcpp::Error& error = (*results)[1].error();  // of this picture alone: code, message, 1
  return (*results)[0].ok() && error.code == mmcpp::ErrorCode::kCorruptInput ? 0 : 1;
}

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
  if (!expanded || response->items[0].feature.shape() != std::vector<int64_t>{16, 1176}) return 1;
  if (Plan(**family, prompt, file, *response) != 0) return 2;
  if (Fill(**family, file) != 0) return 3;
  return Each(**family, file) != 0 ? 4 : 0;
}
