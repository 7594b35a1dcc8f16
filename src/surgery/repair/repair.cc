#include "surgery/repair/repair.h"

// A wheel that contains the libraries it needs.
//
//   scan ── search: a file for each NEEDED, as the loader does ── plan by policy: what is copied ── edits ── publish
//
// Three kinds of libraries are not in the wheel. Those that the platform tag promises (libc, libstdc++) stay outside.
// So do those of packages that the wheel requires or is used with: torch, the CUDA wheels, the driver; run paths lead
// to them. All others are copied into NAME.libs under a name with a hash of their contents, so that two wheels with
// different copies of one library can be in one process. Every file that needs a copy asks for it by its new name, with
// the versions that are required of it.
//
// Policies are tried from the widest to the narrowest: what must be copied depends on what the policy provides, and
// a copy may itself require a newer C library than the wheel did.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/request_error.h"
#include "base/text.h"
#include "surgery/repair/repairer.h"
#include "sys/file.h"
#include "wheel/check/claimed_platform.h"
#include "wheel/read/python_use.h"

namespace wheelsmith::surgery {

namespace {

bool is_interpreter_library(const std::string& soname) { return glob_match("libpython[0-9]*.so*", soname); }

std::string real_path_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

// "demo-1.0.data/platlib/demo/x.so" is installed as "demo/x.so"; scripts and data go elsewhere.
std::string installed_place(const std::string& member) {
  const std::string top = member.substr(0, member.find('/'));
  if (!top.ends_with(".data")) return member;
  const std::string rest = member.substr(std::min(top.size() + 1, member.size()));
  for (const std::string_view scheme : {"platlib/", "purelib/"}) {
    if (rest.starts_with(scheme)) return rest.substr(scheme.size());
  }
  return "";
}

std::string list_of(const std::vector<MissingLibrary>& missing) {
  std::string text;
  for (std::size_t i = 0; i < missing.size() && i < 5; ++i)
    text += fmt::format("{}{} (needed by {})", i == 0 ? "" : ", ", missing[i].soname, base_name(missing[i].by));
  if (missing.size() > 5) text += fmt::format(" and {} more", missing.size() - 5);
  return text;
}

}  // namespace

Repairer::Repairer(InputWheel& input, const RepairRequest& request, const LibrarySource& source,
                   const WriteOptions& options)
    : m_input(input),
      m_request(request),
      m_source(source),
      m_options(options),
      m_draft(input, "repair"),
      m_libs(input.name().name + request.library_suffix) {
  const bool plain = m_libs.find('/') == m_libs.npos && m_libs != "." && m_libs != "..";
  if (!plain || request.library_suffix.empty())
    throw RequestError(fmt::format("--lib-sdir {}: must be a suffix for the name of a folder, like .libs",
                                   printable(request.library_suffix)));
}

std::string Repairer::place_of(const std::string& member) const {
  const auto moved = m_moved.find(member);
  return installed_place(moved == m_moved.end() ? member : moved->second);
}

void Repairer::read_wheel() {
  const std::vector<FileTree::File> files = m_input.tree().files();
  wheel::PythonUse python(files);
  wheel::ScanOptions options{.threads = m_options.threads, .exported = true, .layout = true};
  m_scan = wheel::scan(m_input.tree(), options);
  for (const FileTree::File& file : files) {
    if (!file.name.ends_with(".py")) continue;
    if (const auto blob = m_input.tree().open(file.name)) python.see(file.name, blob->bytes);
  }
  python.finish();
  m_required = wheel::required_packages(m_input.distribution(), python);
  m_roles = wheel::FileRoles(m_scan.elf, python);
  wheel::PlatformOptions platform;
  platform.tags = m_input.name().platforms();
  const wheel::Survey found = wheel::survey(m_scan.elf, platform, "", wheel::LibcRule::one);
  if (found.machine.empty()) throw Error("has no binaries for this platform, so there is nothing to repair");
  m_machine = found.machine;
  m_libc = found.libc;
  for (const wheel::ElfFacts* file : found.counted) m_files.push_back(*file);
  m_own_folders = wheel::folders_of(m_scan.elf);
  m_loader = m_libc == pep::LibC::musl ? &m_source.musl : &m_source.glibc;
}

void Repairer::find_libraries() {
  SearchInputs inputs;
  inputs.files = &m_files;
  inputs.installed_path = installed_place;
  inputs.stays_outside = [this](const wheel::ElfFacts& by, const std::string& soname) {
    return is_interpreter_library(soname) || is_others(by, soname) ||
           std::ranges::any_of(m_request.excluded,
                               [&](const std::string& pattern) { return glob_match(pattern, soname); });
  };
  inputs.machine = m_loader;
  inputs.real_path = real_path_of;
  m_search = search_libraries(inputs);
  leave_outside();
  add_explicit_grafts();
}

// Libraries excluded by path, and those found in the folder of a package that the wheel requires.
void Repairer::leave_outside() {
  for (auto& [id, needs] : m_search.needs) {
    for (LibraryNeed& need : needs) {
      if (!need.library) continue;
      const std::string& path = need.library->path;
      const std::string& real = need.library->real_path;
      const bool excluded = std::ranges::any_of(m_request.excluded, [&](const std::string& pattern) {
        return glob_match(pattern, path) || glob_match(pattern, real);
      });
      std::string sibling;
      for (const std::string_view site : {"/site-packages/", "/dist-packages/"}) {
        const std::size_t at = path.rfind(site);
        if (at == path.npos) continue;
        const std::string below = path.substr(at + site.size());
        if (m_required.has_module(below.substr(0, below.find('/')))) sibling = folder_of_path(below);
      }
      if (!excluded && sibling.empty()) continue;
      need.inside = true;
      need.library = nullptr;
      const auto file = std::ranges::find(m_files, id, &wheel::ElfFacts::path);
      if (!sibling.empty() && file != m_files.end()) add_sibling(*file, sibling);
    }
  }
}

// A library that is loaded by its name at run time is found by no search; the user names it. It keeps its name, or
// those who load it would not find it. Its own needs are planned like those of other libraries.
void Repairer::add_explicit_grafts() {
  std::vector<wheel::ElfFacts> roots;
  for (const std::string& wanted : m_request.graft) {
    wheel::ElfFacts asking;
    asking.path = "--graft " + wanted;
    asking.machine = m_machine;
    asking.is_64bit = m_files.front().is_64bit;
    asking.is_dynamic = true;
    asking.needed = {wanted.find('/') == wanted.npos ? wanted : std::filesystem::absolute(wanted).string()};
    roots.push_back(std::move(asking));
  }
  if (roots.empty()) return;
  SearchInputs inputs;
  inputs.files = &roots;
  inputs.installed_path = [](const std::string&) { return std::string(); };
  inputs.stays_outside = [](const wheel::ElfFacts&, const std::string& soname) {
    return is_interpreter_library(soname);
  };
  inputs.machine = m_loader;
  inputs.real_path = real_path_of;
  LibrarySearch found = search_libraries(inputs);
  for (const wheel::ElfFacts& root : roots) {
    std::vector<LibraryNeed>& needs = found.needs[root.path];
    if (needs.empty() || !needs[0].library)
      throw RequestError(fmt::format("{}: no such library for {}", printable(root.path), m_machine));
    const ExternalLibrary& library = *needs[0].library;
    needs[0].soname = library.facts.soname.empty() ? std::string(base_name(library.path)) : library.facts.soname;
    m_explicit.insert(library.real_path);
  }
  m_search.needs.merge(found.needs);
  // In the plan they are files of the wheel that need the library.
  for (wheel::ElfFacts& root : roots) m_files.push_back(std::move(root));
}

PlanInputs Repairer::plan_inputs() {
  PlanInputs inputs;
  inputs.files = &m_files;
  inputs.search = &m_search;
  inputs.by_own_name = m_explicit;
  inputs.is_interpreter = is_interpreter_library;
  inputs.hashed_name = [this](const ExternalLibrary& library) {
    std::string& hash = m_hashes[library.real_path];
    if (hash.empty()) hash = to_hex(sha256(sys::map_file(library.real_path).bytes));
    return name_with_hash(std::string(base_name(library.real_path)), hash.substr(0, 8));
  };
  return inputs;
}

wheel::PlatformOptions Repairer::platform_options() const {
  wheel::PlatformOptions options;
  options.tags = m_input.name().platforms();
  options.excluded = m_request.excluded;
  options.excluded.insert(options.excluded.end(), m_left_outside.begin(), m_left_outside.end());
  for (const auto& [id, needs] : m_search.needs) {
    for (const LibraryNeed& need : needs) {
      if (!need.inside || need.library) continue;
      const bool own = std::ranges::any_of(m_files, [&](const wheel::ElfFacts& file) {
        return file.soname == need.soname || base_name(file.path) == need.soname;
      });
      if (!own && std::ranges::find(options.excluded, need.soname) == options.excluded.end())
        options.excluded.push_back(need.soname);
    }
  }
  options.trust_others = true;
  options.packages = &m_required;
  options.roles = &m_roles;
  return options;
}

// Policies that the wheel may get, the widest first.
std::vector<const pep::Policy*> Repairer::candidates() {
  std::vector<const pep::Policy*> result;
  for (const pep::Policy& policy : pep::builtin_policies(m_libc)) {
    if (!policy.is_linux() && policy.exists_for(m_machine)) result.push_back(&policy);
  }
  std::ranges::stable_sort(result, [](const auto* a, const auto* b) { return a->priority > b->priority; });
  if (m_request.platform == "auto") return result;
  const auto asked = wheel::policy_named(m_request.platform, {});
  const std::string other =
      m_request.platform.substr(std::min(m_request.platform.size(), asked ? asked->name.size() + 1 : std::size_t(0)));
  if (!asked || asked->is_linux())
    throw RequestError(fmt::format("--plat {}: must be auto or a policy like manylinux_2_28 or musllinux_1_2",
                                   printable(m_request.platform)));
  if (m_request.platform.starts_with(asked->name + "_") && other != m_machine)
    throw Error(fmt::format("its binaries are for {}, not for {}", m_machine, printable(other)));
  if (asked->name.starts_with("musllinux") != (m_libc == pep::LibC::musl))
    throw Error(fmt::format("its binaries use {}, which {} does not promise",
                            m_libc == pep::LibC::musl ? "musl" : "glibc", asked->name));
  m_own_policy = *asked;
  return {&*m_own_policy};
}

bool Repairer::try_policy(const pep::Policy& policy) {
  m_plan = make_graft_plan(plan_inputs(), policy);
  // Test programs do not count, as in `check`. A missing library whose name fits a package that the wheel
  // requires is assumed to be in that package.
  std::erase_if(m_plan.missing, [&](const MissingLibrary& one) {
    if (m_roles.is_test(one.by)) return true;
    const auto file = std::ranges::find(m_files, one.by, &wheel::ElfFacts::path);
    if (file == m_files.end()) return false;
    const auto package = wheel::find_required(m_required, *file, one.soname, m_own_folders);
    if (!package || !package->certain) return false;
    m_left_outside.insert(one.soname);
    return true;
  });
  if (!m_plan.missing.empty()) return false;
  std::vector<wheel::ElfFacts> judged;
  for (wheel::ElfFacts& file : planned_files(m_files, m_plan, m_libs)) {
    if (!m_roles.is_test(file.path) && !file.path.starts_with("--graft ")) judged.push_back(std::move(file));
  }
  const wheel::Survey survey = wheel::survey(judged, platform_options(), m_machine, wheel::LibcRule::any);
  return wheel::satisfies(survey, policy);
}

std::string Repairer::why_not(const pep::Policy& policy) const {
  if (!m_plan.missing.empty())
    return fmt::format("libraries were not found: {}. {}", list_of(m_plan.missing), m_request.missing_help);
  const std::vector<wheel::ElfFacts> planned = planned_files(m_files, m_plan, m_libs);
  const wheel::Survey survey = wheel::survey(planned, platform_options(), m_machine, wheel::LibcRule::any);
  std::string text;
  std::size_t count = 0;
  for (const wheel::Violation& violation : wheel::violations(survey, policy)) {
    if (++count > 3) break;
    text += fmt::format("{}{} {}", count == 1 ? "" : "; ", violation.file->path,
                        wheel::describe(violation, policy, m_machine));
  }
  return text;
}

void Repairer::choose_policy() {
  const std::vector<const pep::Policy*> policies = candidates();
  for (const pep::Policy* policy : policies) {
    if (!try_policy(*policy)) continue;
    m_policy = policy;
    break;
  }
  if (m_policy == nullptr) {
    const pep::Policy& last = *policies.back();
    throw Error(fmt::format("cannot be made {}_{}: {}", last.name, m_machine, why_not(last)));
  }
  if (m_request.only_platform || m_request.platform == "auto") return;
  // With the same copies it may qualify for a wider policy than the one asked for.
  const GraftPlan plan = m_plan;
  for (const pep::Policy& wider : pep::builtin_policies(m_libc)) {
    if (wider.priority <= m_policy->priority || !wider.exists_for(m_machine) || !try_policy(wider)) continue;
    const auto names = [](const GraftPlan& one) {
      std::set<std::string> result;
      for (const auto& [path, graft] : one.grafts) result.insert(path);
      return result;
    };
    if (names(m_plan) != names(plan)) continue;
    if (m_wider == nullptr || wider.priority > m_wider->priority) m_wider = &wider;
  }
  m_plan = plan;
}

void Repairer::set_tags() {
  std::set<std::string> tags;
  for (const pep::Policy* policy : {m_policy, m_wider}) {
    if (policy == nullptr) continue;
    tags.insert(policy->name + "_" + m_machine);
    for (const std::string& alias : policy->aliases) tags.insert(alias + "_" + m_machine);
  }
  m_draft.name().platform = wheel::canonical_tag_set(join(std::vector<std::string>(tags.begin(), tags.end()), "."));
}

void Repairer::run(Item& item) {
  read_wheel();
  find_libraries();
  choose_policy();
  plan_siblings();
  std::erase_if(m_files, [](const wheel::ElfFacts& file) { return file.path.starts_with("--graft "); });
  std::erase_if(m_plan.members, [](const auto& member) { return member.first.starts_with("--graft "); });
  set_tags();
  move_programs();
  edit_members();
  add_grafts();
  document::Table options;
  options["plat"] = m_request.platform;
  if (!m_request.excluded.empty())
    options["exclude"] = document::Array(m_request.excluded.begin(), m_request.excluded.end());
  if (!m_request.graft.empty()) options["graft"] = static_cast<std::int64_t>(m_request.graft.size());
  if (m_request.strip) options["strip"] = true;
  m_draft.details()["options"] = std::move(options);
  PublishCheck check;
  check.platform.excluded = m_request.excluded;
  publish(m_draft, {&m_scan, true}, check, m_options, item);
}

void repair(InputWheel& input, const RepairRequest& request, const LibrarySource& source, const WriteOptions& options,
            Item& item) {
  input.start_hash();
  Repairer(input, request, source, options).run(item);
}

}  // namespace wheelsmith::surgery
