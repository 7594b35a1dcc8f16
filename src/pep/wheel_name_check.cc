#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "pep/requirement.h"
#include "pep/scanner.h"
#include "pep/version.h"
#include "pep/wheel_name.h"

namespace wheelsmith::pep {

namespace {

void check_project(const WheelName& name, const std::string& subject, std::vector<Finding>& findings) {
  if (!is_valid_name(name.name)) {
    findings.push_back({"wheel-name-project", Severity::error, subject,
                        fmt::format("the project name {} in the file name is not valid", quoted_text(name.name)),
                        "installers reject a file whose project they cannot determine",
                        "use letters, digits, \"_\" and \".\" only, starting and ending with a letter or digit"});
  } else if (name.name != escaped_name(name.name)) {
    findings.push_back({"wheel-name-spelling", Severity::note, subject,
                        fmt::format("the project is spelled {}; the normal form is {}", quoted_text(name.name),
                                    quoted_text(escaped_name(name.name))),
                        "tools that compare file names without normalising them do not find this wheel",
                        "write it with a current build backend"});
  }
}

void check_version(const WheelName& name, const std::string& subject, std::vector<Finding>& findings) {
  const std::optional<Version> version = Version::try_parse(name.version);
  if (!version) {
    findings.push_back(
        {"wheel-name-version", Severity::error, subject,
         fmt::format("{} in the file name is not a valid PEP 440 version", quoted_text(name.version)),
         "pip and uv skip a wheel whose version they cannot parse",
         name.version.find('%') != std::string::npos
             ? "the name was saved with its URL escapes: rename %2B to + and %21 to !"
             : "write a \"-\" in the project's name as \"_\", or give the project a PEP 440 version, and rebuild"});
  } else if (name.version != version->to_string()) {
    findings.push_back({"wheel-name-version-spelling", Severity::note, subject,
                        fmt::format("the version is spelled {}; the normal form is {}", quoted_text(name.version),
                                    quoted_text(version->to_string())),
                        "uv and PyPI compare the file name with the normal form",
                        "write it with a current build backend"});
  }
}

constexpr bool in_tag(char c) { return is_alnum(c) || c == '_'; }

void check_tag_set(std::string_view what, const std::string& set, const std::string& subject,
                   std::vector<Finding>& findings) {
  const std::vector<std::string_view> tags = split(set, '.');
  const auto is_bad = [](std::string_view tag) { return tag.empty() || !std::all_of(tag.begin(), tag.end(), in_tag); };
  if (std::any_of(tags.begin(), tags.end(), is_bad)) {
    findings.push_back({"wheel-name-tag", Severity::error, subject,
                        fmt::format("the {} tag {} has an empty part or invalid characters", what, quoted_text(set)),
                        "no interpreter supports such a tag, so the wheel is never selected",
                        "use letters, digits and \"_\", with \".\" between tags"});
    return;
  }
  if (std::set<std::string_view>(tags.begin(), tags.end()).size() != tags.size()) {
    findings.push_back({"wheel-name-tag-repeated", Severity::warning, subject,
                        fmt::format("the {} tag {} repeats a part", what, quoted_text(set)),
                        "two names for the same wheel confuse caches and indexes", "name each part once"});
  } else if (!std::is_sorted(tags.begin(), tags.end())) {
    findings.push_back({"wheel-name-tag-order", Severity::note, subject,
                        fmt::format("the parts of the {} tag {} are not sorted", what, quoted_text(set)),
                        "the specification requires sorted parts, so that a set of tags has one name",
                        "sort the parts"});
  }
}

void check_build_and_label(const WheelName& name, const std::string& subject, std::vector<Finding>& findings) {
  if (!name.build.empty() &&
      (!is_digit(name.build.front()) || !std::all_of(name.build.begin(), name.build.end(),
                                                     [](char c) { return is_alnum(c) || c == '_' || c == '.'; }))) {
    findings.push_back({"wheel-name-build", Severity::error, subject,
                        fmt::format("the build number {} is not valid", quoted_text(name.build)),
                        "installers reject the file name",
                        "begin it with a digit and use only letters, digits, \"_\" and \".\""});
  }
  if (name.label.empty()) return;
  const bool valid = std::all_of(name.label.begin(), name.label.end(),
                                 [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '_' || c == '.'; });
  if (!valid) {
    findings.push_back({"wheel-name-label", Severity::error, subject,
                        fmt::format("the variant label {} is not valid", quoted_text(name.label)),
                        "installers that support variants reject the file name",
                        "use lower-case letters, digits, \"_\" and \".\" only"});
  } else if (name.label.size() > 16) {
    findings.push_back(
        {"wheel-name-label-length", Severity::warning, subject,
         fmt::format("the variant label {} has {} characters", quoted_text(name.label), name.label.size()),
         "tools that follow the earlier draft (PEP 817) take 16 at most", "choose a shorter label"});
  }
}

}  // namespace

std::vector<Finding> check_wheel_name(const WheelName& name, const std::string& subject) {
  std::vector<Finding> findings;
  check_project(name, subject, findings);
  check_version(name, subject, findings);
  check_build_and_label(name, subject, findings);
  check_tag_set("Python", name.python, subject, findings);
  check_tag_set("ABI", name.abi, subject, findings);
  check_tag_set("platform", name.platform, subject, findings);
  return findings;
}

}  // namespace wheelsmith::pep
