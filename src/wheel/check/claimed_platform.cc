#include "wheel/check/claimed_platform.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace wheelsmith::wheel {

namespace {

bool is_linux(const std::string& platform) { return platform.find("linux") != std::string::npos; }

// "x86_64" of "manylinux_2_28_x86_64", "" where no machine is named.
std::string machine_of(const std::string& platform) {
  for (const char* machine :
       {"x86_64", "aarch64", "i686", "armv7l", "ppc64le", "ppc64", "s390x", "riscv64", "loongarch64"}) {
    if (platform.ends_with(std::string("_") + machine)) return machine;
  }
  return "";
}

std::string without_machine(const std::string& platform) {
  const std::string machine = machine_of(platform);
  return machine.empty() ? platform : platform.substr(0, platform.size() - machine.size() - 1);
}

std::string machine_of_binaries(const std::vector<ElfFacts>& files) {
  for (const ElfFacts& file : files) {
    if (file.is_dynamic && !file.machine.starts_with("machine ")) return file.machine;
  }
  return "x86_64";
}

// The tags to judge by, each with its machine.
std::vector<std::pair<std::string, std::string>> to_judge(const std::vector<std::string>& tags,
                                                          const std::string& policy) {
  std::vector<std::pair<std::string, std::string>> result;
  if (policy.empty()) {
    for (const std::string& tag : tags) {
      if (is_linux(tag)) result.emplace_back(tag, machine_of(tag));
    }
    return result;
  }
  std::string machine = machine_of(policy);
  for (const std::string& tag : tags) {
    if (machine.empty()) machine = machine_of(tag);
  }
  result.emplace_back(policy, machine);
  return result;
}

}  // namespace

std::optional<pep::Policy> policy_named(const std::string& name, const std::vector<pep::Policy>& own) {
  for (const std::string& word : {name, without_machine(name)}) {
    for (const std::vector<pep::Policy>* policies :
         {&own, &pep::builtin_policies(pep::LibC::glibc), &pep::builtin_policies(pep::LibC::musl)}) {
      if (const pep::Policy* found = pep::find_policy(*policies, word)) return *found;
    }
  }
  return pep::derived_policy(without_machine(name));
}

std::vector<Finding> check_platform(const std::vector<std::string>& tags, const std::string& policy,
                                    const std::vector<ElfFacts>& files, const PlatformOptions& options,
                                    const std::string& subject) {
  std::vector<Finding> findings;
  PlatformOptions with_tags = options;
  with_tags.tags = tags;
  std::set<std::pair<std::string, std::string>> done;  // policy, machine: several tags may be one policy
  for (const auto& [tag, machine] : to_judge(tags, policy)) {
    const std::optional<pep::Policy> found = policy_named(tag, options.policies);
    if (!found) {
      findings.push_back({"tag-unknown-platform", Severity::warning, tag, "is a platform that is not known here",
                          "whether the binaries fit it could not be judged", "check the spelling of the tag"});
      continue;
    }
    const std::string judged_machine = machine.empty() ? machine_of_binaries(files) : machine;
    if (!done.emplace(found->name, judged_machine).second) continue;
    for (Finding& finding : check_policy(files, *found, judged_machine, with_tags)) {
      findings.push_back(std::move(finding));
    }
  }
  const auto foreign =
      std::find_if(tags.begin(), tags.end(), [](const std::string& tag) { return tag != "any" && !is_linux(tag); });
  if (foreign != tags.end()) {
    findings.push_back(
        {"binaries-not-judged", Severity::note, subject,
         fmt::format("is for {}: archive, metadata and tags were checked, its binaries were not", *foreign),
         "what is wrong inside Windows and macOS libraries is not seen here",
         "use delvewheel (Windows) or delocate (macOS) for those"});
  }
  return findings;
}

}  // namespace wheelsmith::wheel
