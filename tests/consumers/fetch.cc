// What a server writes that takes sources from strangers: mmcpp::fetch beside the library, under
// the policy that no argument changes.
#include <mmcpp/fetch.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

bool Holds(const mmcpp::Buffer& buffer, std::string_view text) {
  return std::string_view(reinterpret_cast<const char*>(buffer.data()), buffer.size()) == text;
}

bool IsForbidden(std::string_view source) {
  const auto buffer = mmcpp::Fetch(source);
  return !buffer.ok() && buffer.error().code == mmcpp::ErrorCode::kForbidden;
}

}  // namespace

int main() {
  auto group = mmcpp::FetchGroup::Create(mmcpp::FetchPolicy());
  if (!group.ok()) return 1;
  group->Start("data:,one");
  group->Start("dHdv");
  const auto sources = group->Wait();
  if (!sources.ok() || !Holds((*sources)[0], "one") || !Holds((*sources)[1], "two")) return 1;
  for (const char* source : {"http://127.0.0.1/", "http://169.254.169.254/", "/etc/passwd"}) {
    if (!IsForbidden(source)) return 1;
  }
  return 0;
}
