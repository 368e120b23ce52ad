// The one list of families.
#include "mmcpp/registry.h"

#include <utility>

#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "families/deepseek_vl_hybrid.h"
#include "families/dsv41.h"
#include "families/fixed_size.h"
#include "families/global_tiles.h"
#include "families/granite_docling.h"
#include "families/idefics3.h"
#include "families/inkling.h"
#include "families/intern_vl.h"
#include "families/internvl.h"
#include "families/kimi_k3.h"
#include "families/lfm2_vl.h"
#include "families/llama4.h"
#include "families/llava_next.h"
#include "families/mimo_v2.h"
#include "families/minicpmv.h"
#include "families/mllama.h"
#include "families/ovis2.h"
#include "families/padded_patches.h"
#include "families/perception_lm.h"
#include "families/phi4_multimodal.h"
#include "families/pixtral.h"
#include "families/qwen_vl.h"
#include "families/spec.h"
#include "mmcpp/build_info.h"

namespace mmcpp {
namespace {

struct Entry {
  const char* name;
  Result<std::unique_ptr<const Family>> (*make)(families::SpecReader spec);
};

constexpr Entry kFamilies[] = {
    {"qwen_vl", families::MakeQwenVl},
    {"fixed_size", families::MakeFixedSize},
    {"internvl", families::MakeInternVl},
    {"llava_next", families::MakeLlavaNext},
    {"pixtral", families::MakePixtral},
    {"padded_patches", families::MakePaddedPatches},
    {"idefics3", families::MakeIdefics3},
    {"mllama", families::MakeMllama},
    {"llama4", families::MakeLlama4},
    {"global_tiles", families::MakeGlobalTiles},
    {"perception_lm", families::MakePerceptionLm},
    {"minicpmv", families::MakeMiniCpmV},
    {"ovis2", families::MakeOvis2},
    {"deepseek_vl_hybrid", families::MakeDeepseekVlHybrid},
    {"granite_docling", families::MakeGraniteDocling},
    {"lfm2_vl", families::MakeLfm2Vl},
    {"phi4_multimodal", families::MakePhi4Multimodal},
    // Those of the reference crate alone.
    {"inkling", families::MakeInkling},
    {"dsv41", families::MakeDsv41},
    {"kimi_k3", families::MakeKimiK3},
    {"mimo_v2", families::MakeMimoV2},
    {"intern_vl", families::MakeInternVlFloat},
};

Result<std::unique_ptr<const Family>> Make(const std::string& json, UnknownKeys unknown_keys) {
  // A wrong MMCPP_ISA is found out when a server starts, not at its first request.
  MMCPP_TRY(ActiveIsa());
  MMCPP_ASSIGN(families::SpecReader spec, families::SpecReader::Parse(json, unknown_keys));
  std::string names;
  for (const Entry& entry : kFamilies) {
    if (spec.family() == entry.name) return entry.make(std::move(spec));
    names += (names.empty() ? "`" : ", `") + std::string(entry.name) + "`";
  }
  return InvalidArgument("spec: unknown family " + families::Quoted(spec.family()) + ", expected " +
                         names);
}

}  // namespace

Result<std::unique_ptr<const Family>> FamilyFromSpec(const std::string& json,
                                                     UnknownKeys unknown_keys) {
  return CatchOutOfMemory([&] { return Make(json, unknown_keys); });
}

std::vector<std::string> FamilyNames() {
  std::vector<std::string> names;
  for (const Entry& entry : kFamilies) names.emplace_back(entry.name);
  return names;
}

}  // namespace mmcpp
