#include "wheel/tags/platform.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "wheel/tags/platform_survey.h"

namespace wheelsmith::wheel {

namespace data {
extern const std::string_view desktop_libraries_txt;
extern const std::string_view providers_tsv;
extern const std::string_view rocm_libraries_tsv;
}  // namespace data

namespace {

// The policies that a wheel may qualify for, best first, "linux" last.
std::vector<const pep::Policy*> candidates(const Survey& survey, const PlatformOptions& options) {
  const bool musl = survey.libc == pep::LibC::musl;
  std::vector<const pep::Policy*> result;
  for (const pep::Policy& policy : options.policies) {
    if (policy.exists_for(survey.machine) && policy.name.starts_with("musllinux") == musl) {
      result.push_back(&policy);
    }
  }
  std::vector<const pep::Policy*> builtin;
  for (const pep::Policy& policy : pep::builtin_policies(survey.libc)) {
    if (policy.exists_for(survey.machine)) {
      builtin.push_back(&policy);
    }
  }
  // musl has no symbol versions, so a file does not show which musl it was built with: only the newest is safe.
  if (musl && builtin.size() > 2) {
    builtin.erase(builtin.begin(), builtin.end() - 2);
  }
  result.insert(result.end(), builtin.begin(), builtin.end());
  std::stable_sort(result.begin(), result.end(),
                   [](const pep::Policy* a, const pep::Policy* b) { return a->priority > b->priority; });
  return result;
}

}  // namespace

Platform deserved_platform(const std::vector<ElfFacts>& files, const PlatformOptions& options) {
  const Survey found = survey(files, options, "", LibcRule::one);
  if (found.machine.empty()) {
    return {"any", {}};
  }
  const auto policies = candidates(found, options);
  std::size_t deserved = 0;
  while (!satisfies(found, *policies[deserved])) {  // the last, "linux", is always satisfied
    ++deserved;
  }
  Platform result{fmt::format("{}_{}", policies[deserved]->name, found.machine), {}};
  if (deserved > 0) {
    const pep::Policy& wider = *policies[deserved - 1];
    for (const Violation& violation : violations(found, wider)) {
      result.obstacles.push_back({wider.name, violation.file->path, describe(violation, wider, found.machine)});
    }
  }
  return result;
}

std::string provided_by_others(const std::string& soname, const std::vector<std::string>& required) {
  struct Row {
    std::string_view pattern;
    std::string_view who;
    std::string_view condition;  // a package that must be required; "" for none
  };
  static const std::vector<Row> rows = [] {
    std::vector<Row> parsed;
    for (const std::string_view table : {data::providers_tsv, data::rocm_libraries_tsv}) {
      for (const std::string_view line : lines(table)) {
        const std::vector<std::string_view> cells = split(line, '\t');
        if (line.starts_with('#') || cells.size() < 2) continue;
        parsed.push_back({cells[0], cells[1], cells.size() > 2 ? cells[2] : std::string_view()});
      }
    }
    return parsed;
  }();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& each) {
    return glob_match(each.pattern, soname) &&
           (each.condition.empty() || std::find(required.begin(), required.end(), each.condition) != required.end());
  });
  return row == rows.end() ? "" : std::string(row->who);
}

bool is_desktop_library(std::string_view soname) {
  const std::vector<std::string_view> patterns = lines(data::desktop_libraries_txt);
  return std::any_of(patterns.begin(), patterns.end(), [&](std::string_view pattern) {
    return !pattern.starts_with('#') && glob_match(pattern, soname);
  });
}

}  // namespace wheelsmith::wheel
