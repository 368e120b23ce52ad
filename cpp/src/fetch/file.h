// Local files under the policy's folders.
#pragma once

#include <string>
#include <string_view>

#include "fetch/policy.h"
#include "fetch/sink.h"
#include "mmcpp/status.h"

namespace mmcpp::fetch {

/// The path of "file:///path", "file://localhost/path", "file:/path" or "/path"; in a URL it is
/// percent-decoded. kBadSource for another host, a malformed escape or a NUL.
Result<std::string> FilePath(std::string_view source);

/// Appends the file to the sink. Regular files only, whose path and whose place after symbolic
/// links are both below a folder of the policy; what is checked is the open file, not its name.
/// kForbidden, without a look at the disk, for paths outside; messages never hold a path.
Status ReadFile(const std::string& path, const Policy& policy, Sink* sink);

}  // namespace mmcpp::fetch
