// After the build: tags, provenance and archive first; then the very bytes that will be published are checked and
// tested.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "pep/version.h"
#include "pep/wheel_name.h"
#include "run/step_runner.h"
#include "sys/file.h"
#include "wheel/check/check.h"
#include "wheel/check/claimed_platform.h"
#include "wheel/tags/true_tags.h"
#include "wheel/write/edit.h"
#include "zip/archive.h"

namespace wheelsmith::run {

namespace {

using document::Array;
using document::Table;
using document::Value;

class FileSink final : public Sink {
 public:
  explicit FileSink(sys::AtomicFile& file) : m_file(file) {}
  void write(Bytes bytes) override { m_file.write(bytes); }

 private:
  sys::AtomicFile& m_file;
};

// The tag asked for, with the machine where it was left out ("manylinux_2_28" -> "manylinux_2_28_x86_64").
std::string whole_tag(const std::string& asked, const std::string& machine) {
  return asked.ends_with("_" + machine) ? asked : asked + "_" + machine;
}

Value wheels_value(const env::Lock& lock) {
  Array wheels;
  for (const env::PinnedWheel& wheel : lock.wheels) {
    Table item;
    item["name"] = wheel.name;
    item["version"] = wheel.version;
    item["sha256"] = wheel.sha256;
    wheels.emplace_back(std::move(item));
  }
  return wheels;
}

bool is_platform_finding(const Finding& finding) { return finding.id.starts_with("platform"); }

}  // namespace

// What it was made from and with. No time, no host, no path: equal inputs give equal bytes.
Value StepRunner::provenance(const wheel::Inspection& inspection) const {
  const plan::Step& step = m_job.step;
  Table table;
  table["schema"] = 1;
  table["builder"] = "wheelsmith " WHEELSMITH_VERSION;
  table["key"] = step.key;
  table["recipe"] = step.package;
  table["variant"] = std::string(recipe::to_string(step.variant));
  if (!step.target.empty()) table["target"] = step.target;
  table["archs"] = step.archs.to_string();
  table["build_type"] = step.build_type;
  Table source;
  source["digest"] = step.source.digest;
  if (!step.source.file_name.empty()) source["file"] = step.source.file_name;
  if (!step.source.git_commit.empty()) source["commit"] = step.source.git_commit;
  if (step.source.incremental) source["incremental"] = true;
  table["source"] = std::move(source);
  if (step.uncacheable) table["incremental"] = true;
  Array patches;
  for (const source::Patch& patch : step.patches) {
    Table item;
    item["name"] = patch.name;
    item["sha256"] = to_hex(sha256(Bytes(patch.text)));
    patches.emplace_back(std::move(item));
  }
  table["patches"] = std::move(patches);
  table["python"] = step.python.version;
  if (m_torch) table["torch"] = m_torch->version;
  if (!step.cuda_version.empty()) table["cuda"] = step.cuda_version;
  Table tools;
  for (const auto& [name, value] : step.manifest.inputs()) {
    if (name.starts_with("tool:")) tools[name.substr(5)] = value;
  }
  table["tools"] = std::move(tools);
  table["build_requirements"] = wheels_value(m_lock);
  table["network"] = step.network                                                           ? "open"
                     : m_network_isolated || step.source.kind == source::Pin::Kind::program ? "none"
                                                                                            : "dead proxy";
  Array libraries;
  for (const wheel::ElfFacts& file : inspection.elf) libraries.emplace_back(file.path);
  table["libraries"] = std::move(libraries);
  return table;
}

void StepRunner::check_identity(const std::string& file_name) const {
  const pep::WheelName name = pep::WheelName::parse(file_name);
  if (pep::normalized_name(name.name) != pep::normalized_name(m_job.step.project)) {
    throw WheelRefused(fmt::format("the build made {}, a wheel of {}, but the recipe says that the project is {}",
                                   file_name, name.name, m_job.step.project));
  }
  const auto made = pep::Version::try_parse(name.version);
  const auto planned = pep::Version::try_parse(m_job.step.version);
  if (made && planned && made->public_version() != planned->public_version()) {
    throw WheelRefused(fmt::format(
        "the build made version {}, but the source is {}: the package takes its version from somewhere else "
        "(a tag, the date); set the variable that fixes it in the recipe's environment",
        name.version, m_job.step.version));
  }
}

void StepRunner::finish(const std::filesystem::path& built) {
  start_phase("finish");
  check_identity(built.filename().string());
  const Blob file = sys::map_file(built);
  wheel::InspectOptions inspect_options;
  inspect_options.threads = usable_threads();
  inspect_options.platform.excluded = m_rules.checks.provided;
  const wheel::Inspection inspection = wheel::inspect_file(built.string(), file.bytes, inspect_options);
  if (!inspection.error.empty())
    throw WheelRefused("the wheel that the build made cannot be read: " + inspection.error);
  const pep::WheelName claimed = pep::WheelName::parse(built.filename().string());
  const wheel::TrueTags tags = wheel::true_tags(inspection.elf, m_job.step.python.abi, claimed);
  wheel::WheelEdit edit;
  edit.threads = usable_threads();
  edit.python_tag = tags.python;
  edit.abi_tag = tags.abi;
  const std::string machine = m_job.step.python.machine();
  if (tags.pure)
    edit.platform_tag = "any";
  else if (!m_job.step.platform.empty())
    edit.platform_tag = whole_tag(m_job.step.platform, machine);
  else if (inspection.platform_beside_others)
    edit.platform_tag = inspection.platform_beside_others->tag;
  for (const auto& [name, value] : m_job.step.environment) {
    if (name == "SOURCE_DATE_EPOCH") edit.time = static_cast<std::int64_t>(to_number(value).value_or(315'532'800));
  }
  m_provenance = provenance(inspection);
  edit.dist_info_files.push_back({"wheelsmith/provenance.json", document::to_json(m_provenance) + "\n"});
  edit.dist_info_files.push_back({"wheelsmith/recipe.toml", m_job.step.recipe_text});
  const std::filesystem::path folder = m_store.temporary();
  sys::AtomicFile target(folder / "finished.whl");
  FileSink sink(target);
  const wheel::EditedWheel edited = wheel::edit_wheel(built.string(), file.bytes, edit, sink);
  target.commit();
  m_wheel = folder / edited.file_name;
  std::filesystem::rename(folder / "finished.whl", m_wheel);
  note(fmt::format("{} ({}): {}", edited.file_name, human_bytes(edited.size), tags.why));
  // The tag that no index takes is not given in silence.
  const auto& deserved = inspection.platform_beside_others;
  if (deserved && edit.platform_tag == deserved->tag && deserved->tag.starts_with("linux_") &&
      m_job.step.platform.empty() && !deserved->obstacles.empty()) {
    const wheel::Obstacle& first = deserved->obstacles.front();
    note(fmt::format("no manylinux tag: {} {}", first.subject, first.what));
  }
}

void StepRunner::check_members(const std::vector<std::string>& members, std::vector<Finding>& findings) const {
  const auto any = [&](const std::string& pattern) {
    return std::any_of(members.begin(), members.end(),
                       [&](const std::string& name) { return glob_match(pattern, name); });
  };
  for (const std::string& pattern : m_rules.checks.members) {
    if (any(pattern)) continue;
    findings.push_back(
        {"recipe-member-missing", Severity::error, pattern, "no member of the wheel matches " + pattern,
         "the recipe says that the wheel must have it; builds leave parts out in silence when something is not found",
         "see in the log why that part was not built"});
  }
  for (const std::string& pattern : m_rules.checks.no_members) {
    if (!any(pattern)) continue;
    findings.push_back({"recipe-member-unwanted", Severity::error, pattern, "a member of the wheel matches " + pattern,
                        "the recipe says that the wheel must not have it",
                        "see in the log how it came into the wheel"});
  }
  for (const recipe::OptionalPart& part : m_rules.optional) {
    if (part.member.empty() || any(part.member)) continue;
    findings.push_back({"recipe-optional-missing", Severity::note, part.name,
                        fmt::format("the optional part {} was not built", part.name), part.why, ""});
  }
}

void StepRunner::check() {
  start_phase("check");
  wheel::CheckOptions options;
  options.threads = usable_threads();
  options.platform.excluded = m_rules.checks.provided;
  options.required_symbols = m_rules.checks.symbols;
  options.max_size = m_rules.checks.max_size;
  if (m_rules.checks.archs && !m_job.step.archs.requests.empty()) options.archs = m_job.step.archs;
  if (m_torch)
    options.against.push_back(wheel::read_provider("torch", sys::FolderTree(m_torch->folder), options.threads));
  const Blob file = sys::map_file(m_wheel);
  wheel::Verdict verdict = wheel::check_wheel(m_wheel.filename().string(), file.bytes, options);
  if (!verdict.error.empty()) throw WheelRefused("the finished wheel cannot be read: " + verdict.error);
  std::vector<std::string> members;
  const zip::Archive archive = zip::Archive::open(file.bytes);
  for (const zip::Entry& entry : archive.entries()) members.push_back(entry.name);
  check_members(members, verdict.findings);
  for (Finding& finding : verdict.findings) {
    for (const auto& [id, why] : m_rules.checks.accepted) {
      if (finding.id != id || finding.severity == Severity::note) continue;
      finding.severity = Severity::note;
      finding.what += " (accepted by the recipe: " + why + ")";
    }
  }
  m_outcome.findings = verdict.findings;
  std::vector<std::string> wrong;
  bool platform = false;
  for (const Finding& finding : verdict.findings) {
    m_log.line(fmt::format("{} {} {}: {}", to_string(finding.severity), finding.id, finding.subject, finding.what));
    if (finding.severity != Severity::error) continue;
    platform = platform || is_platform_finding(finding);
    if (wrong.size() < 5) wrong.push_back(fmt::format("{}: {}", finding.subject, finding.what));
  }
  if (wrong.empty()) {
    const auto is_warning = [](const Finding& finding) { return finding.severity == Severity::warning; };
    const auto warnings = std::count_if(verdict.findings.begin(), verdict.findings.end(), is_warning);
    if (warnings != 0)
      note(fmt::format("{} warning{}; wheelsmith check shows {}", warnings, warnings == 1 ? "" : "s",
                       warnings == 1 ? "it" : "them"));
    return;
  }
  const std::string list = join(wrong, "; ");
  throw WheelRefused(platform && !m_job.step.platform.empty()
                         ? fmt::format("the wheel does not deserve the tag {}: {}", m_job.step.platform, list)
                         : "the wheel is not good: " + list);
}

void StepRunner::test() {
  start_phase("test");
  TestBench bench{.rules = m_rules,
                  .python = m_job.step.python,
                  .variant = m_job.step.variant,
                  .wheel = m_wheel,
                  .requirements = {},
                  .constraints = {},
                  .wheelhouses = m_job.step.torch.wheelhouses,
                  .torch_sites = m_torch_sites,
                  .index_urls = m_job.step.torch.index_urls,
                  .prereleases = m_job.step.torch.prereleases,
                  .offline = m_job.offline,
                  .store = m_store,
                  .fetcher = m_fetcher,
                  .host = m_host,
                  .log = [this](const std::string& text) { m_log.write(text); }};
  for (const NeededWheel& need : m_job.needs)
    (need.direct ? bench.requirements : bench.constraints).push_back(need.requirement());
  if (const env::PinnedWheel* torch = m_lock.find("torch")) bench.requirements.push_back("torch==" + torch->version);
  m_outcome.tests = run_tests(bench);
  for (const TestOutcome& outcome : m_outcome.tests)
    note(
        fmt::format("test {}: {}{}", outcome.id, outcome.outcome, outcome.why.empty() ? "" : " (" + outcome.why + ")"));
  for (const TestOutcome& outcome : m_outcome.tests) {
    if (outcome.outcome == "fail") throw WheelRefused(fmt::format("the test {} failed: {}", outcome.id, outcome.why));
  }
}

// Our own static program as a wheel, the way ruff, uv and ninja are shipped.
std::filesystem::path StepRunner::pack_program() {
  start_phase("build");
  const Blob program = sys::map_file(sys::own_executable());
  const std::string version = WHEELSMITH_VERSION;
  wheel::NewWheel wheel;
  wheel.threads = usable_threads();
  wheel.name.name = pep::escaped_name(m_job.step.project);
  wheel.name.version = version;
  wheel.name.python = "py3";
  wheel.name.abi = "none";
  wheel.name.platform = m_job.step.python.platform;
  wheel.metadata = fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\nSummary: {}\nRequires-Python: >=3.8\n",
                               m_job.step.project, version, m_recipe.summary);
  zip::NewMember member;
  member.name = fmt::format("{}-{}.data/scripts/wheelsmith", wheel.name.name, version);
  member.mode = 0755;
  member.size = program.bytes.size();
  member.open = [program] { return program; };
  wheel.members.push_back(std::move(member));
  const std::filesystem::path folder = m_store.temporary() / "built";
  sys::make_folders(folder);
  sys::AtomicFile target(folder / "program.whl");
  FileSink sink(target);
  const wheel::EditedWheel made = wheel::pack_wheel(wheel, sink);
  target.commit();
  std::filesystem::rename(folder / "program.whl", folder / made.file_name);
  return folder / made.file_name;
}

}  // namespace wheelsmith::run
