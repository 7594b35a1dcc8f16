#include "wheel/check/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "run/step/phases.h"
#include "sys/file.h"
#include "zip/archive.h"

namespace wheelsmith::run {

namespace {

bool is_platform_finding(const Finding& finding) { return finding.id.starts_with("platform"); }

// Whether only this build produces the finding: `wheelsmith check` without options knows neither the recipe nor the
// plan.
bool is_of_this_build(const Finding& finding) {
  return finding.id.starts_with("recipe-") || finding.id.starts_with("arch-") || finding.id == "size-large" ||
         finding.id == "symbol-required-missing";
}

// A recipe may accept warnings, and errors that come from its own requirements. Other errors would also appear for
// everyone who checks the published wheel.
void accept(const std::vector<std::pair<std::string, std::string>>& accepted, std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    const auto found =
        std::find_if(accepted.begin(), accepted.end(), [&](const auto& each) { return each.first == finding.id; });
    if (found == accepted.end() || finding.severity == Severity::note) continue;
    if (finding.severity == Severity::error && !is_of_this_build(finding)) {
      finding.what += " (the recipe accepts it, but `wheelsmith check` reports it as an error)";
      continue;
    }
    finding.severity = Severity::note;
    finding.what += " (accepted by the recipe: " + found->second + ")";
  }
}

void check_members(const recipe::Rules& rules, const std::vector<std::string>& members,
                   std::vector<Finding>& findings) {
  const auto any = [&](const std::string& pattern) {
    return std::any_of(members.begin(), members.end(),
                       [&](const std::string& name) { return glob_match(pattern, name); });
  };
  for (const std::string& pattern : rules.checks.members) {
    if (any(pattern)) continue;
    findings.push_back({"recipe-member-missing", Severity::error, pattern, "no file in the wheel matches " + pattern,
                        "the recipe requires it; builds skip parts silently when a dependency is not found",
                        "search the build log for why that part was not built"});
  }
  for (const std::string& pattern : rules.checks.no_members) {
    if (!any(pattern)) continue;
    findings.push_back({"recipe-member-unwanted", Severity::error, pattern, "a file in the wheel matches " + pattern,
                        "the recipe forbids it", "search the build log for how it got into the wheel"});
  }
  for (const recipe::OptionalPart& part : rules.optional) {
    if (part.member.empty() || any(part.member)) continue;
    findings.push_back({"recipe-optional-missing", Severity::note, part.name,
                        fmt::format("the optional part {} was not built", part.name), part.why, ""});
  }
}

}  // namespace

void check(const plan::BuildSpec& spec, const recipe::Rules& rules, const FinishedWheel& finished,
           const std::optional<toolchain::Torch>& torch, std::vector<Finding>& findings, const StepServices& services) {
  services.report.phase(plan::Phase::check);
  wheel::CheckOptions options;
  options.threads = usable_threads();
  options.required_symbols = rules.checks.symbols;
  options.max_size = rules.checks.max_size;
  if (rules.checks.archs && !spec.archs.requests.empty()) options.archs = spec.archs;
  options.expected_code = rules.checks.code;
  if (torch) options.against.push_back(wheel::read_provider("torch", sys::FolderTree(torch->folder), options.threads));
  const Blob file = sys::map_file(finished.path);
  if (to_hex(sha256(file.bytes)) != finished.sha256)
    throw WheelRefused("the wheel changed between finishing and its check");
  wheel::Verdict verdict = wheel::check_wheel(finished.path.filename().string(), file.bytes, options);
  if (!verdict.error.empty()) throw WheelRefused("the finished wheel cannot be read: " + verdict.error);
  std::vector<std::string> members;
  const zip::Archive archive = zip::Archive::open(file.bytes);
  for (const zip::Entry& entry : archive.entries()) members.push_back(entry.name);
  check_members(rules, members, verdict.findings);
  accept(rules.checks.accepted, verdict.findings);
  findings = verdict.findings;
  std::vector<std::string> wrong;
  bool platform = false;
  for (const Finding& finding : verdict.findings) {
    services.report.log_line(
        fmt::format("{} {} {}: {}", to_string(finding.severity), finding.id, finding.subject, finding.what));
    if (finding.severity != Severity::error) continue;
    platform = platform || is_platform_finding(finding);
    if (wrong.size() < 5) wrong.push_back(fmt::format("{}: {}", finding.subject, finding.what));
  }
  if (wrong.empty()) {
    const auto is_warning = [](const Finding& finding) { return finding.severity == Severity::warning; };
    const auto warnings = std::count_if(verdict.findings.begin(), verdict.findings.end(), is_warning);
    if (warnings != 0)
      services.report.note(fmt::format("{} warning{}; `wheelsmith check` shows {}", warnings, warnings == 1 ? "" : "s",
                                       warnings == 1 ? "it" : "them"));
    return;
  }
  const std::string list = join(wrong, "; ");
  throw WheelRefused(platform && !spec.platform.empty()
                         ? fmt::format("the wheel does not qualify for the tag {}: {}", spec.platform, list)
                         : "the wheel failed its check: " + list);
}

}  // namespace wheelsmith::run
