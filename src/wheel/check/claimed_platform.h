#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "wheel/tags/platform.h"

namespace wheelsmith::wheel {

// The policy for a platform tag or policy name, with or without a machine suffix: user policies first, then the
// built-in ones, then one derived from them. Nothing for an unknown name.
std::optional<pep::Policy> policy_named(const std::string& name, const std::vector<pep::Policy>& own);

// Checks the files against each platform tag of the wheel, or against `policy` if given. Windows and macOS tags give a
// note that their binaries are not checked. `subject` names the wheel.
std::vector<Finding> check_platform(const std::vector<std::string>& tags, const std::string& policy,
                                    const std::vector<ElfFacts>& files, const PlatformOptions& options,
                                    const std::string& subject);

}  // namespace wheelsmith::wheel
