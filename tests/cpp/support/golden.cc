// Reads the vectors; the only test file that pays for the JSON parser.
#include "support/golden.h"

#include <fstream>

template class nlohmann::basic_json<>;

namespace mmcpp::test {

nlohmann::json GoldenFile(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(std::string(MMCPP_GOLDEN_DIR "/") + name));
}

const nlohmann::json& ReferenceCrate() {
  static const nlohmann::json golden = GoldenFile("reference_crate.json");
  return golden;
}

}  // namespace mmcpp::test
