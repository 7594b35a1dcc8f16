#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pep/project/project_page.h"
#include "pep/version.h"

namespace wheelsmith::pep {

struct Choice {
  ProjectFile file;
  std::string version;  // as in the file's name
};

// A version that was not chosen, and the reason: "is yanked (broken build)", "requires Python >=3.10".
struct PassedOver {
  std::string version;
  std::string why;
};

// The newest sdist of the page's project that the specifiers contain ("==2.1.2", ">=2,<3", "" for any) and that runs on
// that Python. A yanked one is selected only if the specifiers pin it (==, ===); a pre-release only if requested, named
// by the specifiers, or the only choice. `passed_over` gets the other candidates, newest first. Throws Error for
// invalid specifiers.
std::optional<Choice> choose_sdist(const ProjectPage& page, std::string_view specifiers, const Version& python_version,
                                   bool allow_prereleases, std::vector<PassedOver>* passed_over = nullptr);

// Why nothing was chosen, for the user: the available versions, the closest one, and the reasons against them.
std::string why_no_sdist(const ProjectPage& page, std::string_view specifiers,
                         const std::vector<PassedOver>& passed_over);

}  // namespace wheelsmith::pep
