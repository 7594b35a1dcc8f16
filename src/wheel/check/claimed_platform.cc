#include "wheel/check/claimed_platform.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace wheelsmith::wheel {

namespace {

bool is_linux(const std::string& platform) { return platform.find("linux") != std::string::npos; }

// "x86_64" of "manylinux_2_28_x86_64", "" if it names no machine.
std::string machine_of(const std::string& platform) {
  for (const char* machine : {"x86_64", "aarch64", "i686", "armv6l", "armv7l", "armv8l", "ppc64le", "ppc64", "s390x",
                              "riscv64", "loongarch64"}) {
    if (platform.ends_with(std::string("_") + machine)) return machine;
  }
  return "";
}

std::string without_machine(const std::string& platform) {
  const std::string machine = machine_of(platform);
  return machine.empty() ? platform : platform.substr(0, platform.size() - machine.size() - 1);
}

std::string machine_of_binaries(const std::vector<ElfFacts>& files) {
  for (const bool dynamic : {true, false}) {  // static programs decide if there are no dynamic files
    for (const ElfFacts& file : files) {
      if (file.is_dynamic == dynamic && !file.machine.starts_with("machine ")) return file.machine;
    }
  }
  return "x86_64";
}

// The tags to check, each with its machine.
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

struct Judged {
  pep::Policy policy;
  std::string machine;

  [[nodiscard]] std::string family() const { return policy.name.substr(0, policy.name.find('_')) + " " + machine; }
};

// Tags of one machine and libc differ only in how old a system they support, and a file that breaks a newer policy
// breaks the older ones too. So each file is reported once, for the most compatible tag.
std::vector<Finding> judge_all(std::vector<Judged> all, const std::vector<ElfFacts>& files,
                               const PlatformOptions& options) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Judged& a, const Judged& b) { return a.policy.priority > b.policy.priority; });
  using Key = std::tuple<std::string, std::string, std::string, Severity>;  // family, id, subject
  std::set<Key> told;
  std::vector<Finding> findings;
  for (const Judged& each : all) {
    std::vector<Key> keys;
    for (Finding& finding : check_policy(files, each.policy, each.machine, options)) {
      Key key(each.family(), finding.id, finding.subject, finding.severity);
      if (told.contains(key)) continue;
      keys.push_back(std::move(key));
      findings.push_back(std::move(finding));
    }
    told.insert(keys.begin(), keys.end());
  }
  return findings;
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
  std::set<std::pair<std::string, std::string>> done;  // policy, machine; several tags may map to one policy
  std::vector<Judged> all;
  for (const auto& [tag, machine] : to_judge(tags, policy)) {
    const std::optional<pep::Policy> found = policy_named(tag, options.policies);
    if (!found) {
      findings.push_back({"tag-unknown-platform", Severity::warning, tag, "is not a known platform tag",
                          "the binaries could not be checked against it", "check the spelling of the tag"});
      continue;
    }
    const std::string judged_machine = machine.empty() ? machine_of_binaries(files) : machine;
    if (done.emplace(found->name, judged_machine).second) all.push_back({*found, judged_machine});
  }
  for (Finding& finding : judge_all(std::move(all), files, with_tags)) findings.push_back(std::move(finding));
  const auto foreign =
      std::find_if(tags.begin(), tags.end(), [](const std::string& tag) { return tag != "any" && !is_linux(tag); });
  if (foreign != tags.end()) {
    findings.push_back(
        {"binaries-not-judged", Severity::note, subject,
         fmt::format("is for {}: the archive, metadata and tags were checked, the binaries were not", *foreign),
         "wheelsmith does not read Windows and macOS libraries",
         "check them with delvewheel (Windows) or delocate (macOS)"});
  }
  return findings;
}

}  // namespace wheelsmith::wheel
