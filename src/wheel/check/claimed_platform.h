#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "wheel/tags/platform.h"

namespace wheelsmith::wheel {

// The policy of a platform tag or a policy's name, without or with a machine behind it: the user's own first, then the
// built-in ones, then one derived from them. Nothing for a name that means nothing.
std::optional<pep::Policy> policy_named(const std::string& name, const std::vector<pep::Policy>& own);

// Judges the files by each platform tag that the wheel claims, or by `policy` where one was asked for. Tags of Windows
// and macOS give a note that their binaries are not judged. `subject` names the wheel.
std::vector<Finding> check_platform(const std::vector<std::string>& tags, const std::string& policy,
                                    const std::vector<ElfFacts>& files, const PlatformOptions& options,
                                    const std::string& subject);

}  // namespace wheelsmith::wheel
