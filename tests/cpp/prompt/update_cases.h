// Reading the shared facts about prompt updates (golden/vllm_prompt_cases.json), and short ways to
// write updates in tests.
#pragma once

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "mmcpp/prompt_update.h"

namespace mmcpp::test {

using Json = nlohmann::ordered_json;  // the order of modalities is their priority
using Ids = std::vector<int64_t>;

inline const Json& PromptCases() {
  static const Json cases =
      Json::parse(std::ifstream(std::string(MMCPP_GOLDEN_DIR) + "/vllm_prompt_cases.json"));
  return cases;
}

/// Token ids, or the characters of an ASCII text.
inline Ids Symbols(const Json& value) {
  if (!value.is_string()) return value.get<Ids>();
  const auto text = value.get<std::string>();
  return Ids(text.begin(), text.end());
}

inline UpdateTarget Target(const Json& value) {
  using Kind = UpdateTarget::Kind;
  if (!value.is_object()) return {Kind::kTokens, Symbols(value)};
  const auto at = value["at"].get<std::string>();
  if (at == "start") return {Kind::kStart, {}};
  if (at == "end") return {Kind::kEnd, {}};
  return {Kind::kPrefix, Symbols(value["of"])};
}

inline PromptUpdate Update(const Json& value) {
  const UpdateMode mode = value[0] == "insert" ? UpdateMode::kInsert : UpdateMode::kReplace;
  return {mode, Target(value[1]), {Symbols(value[2]), {}}};
}

inline std::vector<ModalityUpdates> Updates(const Json& value) {
  std::vector<ModalityUpdates> updates;
  for (const auto& [modality, items] : value.items()) {
    ModalityUpdates& added = updates.emplace_back();
    added.modality = modality;
    for (const Json& alternatives : items) {
      auto& item = added.items.emplace_back();
      for (const Json& update : alternatives) item.push_back(Update(update));
    }
  }
  return updates;
}

/// {modality: [[item, start, length]]}, without modalities that have none.
inline Json Placed(const std::vector<ModalityUpdates>& updates,
                   const std::vector<Placement>& placements) {
  Json placed = Json::object();
  for (const Placement& placement : placements) {
    placed[updates[placement.modality].modality].push_back(
        {placement.item, placement.start, placement.length});
  }
  return placed;
}

/// {modality: [alternative or null]}.
inline Json Applied(const std::vector<ModalityUpdates>& updates, const UpdatePlan& plan) {
  Json applied = Json::object();
  for (size_t m = 0; m < updates.size(); ++m) {
    Json& items = applied[updates[m].modality] = Json::array();
    for (const size_t alternative : plan.applied[m]) {
      items.push_back(alternative == kNoAlternative ? Json() : Json(alternative));
    }
  }
  return applied;
}

/// Equal whatever the order of keys.
inline bool Same(const Json& a, const Json& b) {
  return nlohmann::json::parse(a.dump()) == nlohmann::json::parse(b.dump());
}

inline UpdateTarget Tokens(Ids ids) { return {UpdateTarget::Kind::kTokens, std::move(ids)}; }
inline PromptUpdate Replace(Ids target, Ids content, std::vector<bool> mask = {}) {
  return {UpdateMode::kReplace, Tokens(std::move(target)), {std::move(content), std::move(mask)}};
}
inline PromptUpdate Insert(Ids target, Ids content) {
  return {UpdateMode::kInsert, Tokens(std::move(target)), {std::move(content), {}}};
}

}  // namespace mmcpp::test
