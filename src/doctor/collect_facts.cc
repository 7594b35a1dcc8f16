#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "doctor/case.h"
#include "plan/libraries.h"
#include "sys/sandbox/sandbox.h"
#include "toolchain/description.h"

namespace wheelsmith::doctor {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_programs[] = {"cmake", "ninja", "make", "git", "curl", "uv", "patch"};

// The message of an exception during the survey: a path given by the user does not exist.
template <class Look>
auto looked(Look look, std::string& problem) -> decltype(look()) {
  try {
    return look();
  } catch (const Error& error) {
    problem = error.what();
    return {};
  }
}

void find_programs_of_builds(Facts& facts, const toolchain::Host& where, const std::vector<std::string>& more) {
  std::vector<std::string> names(std::begin(k_programs), std::end(k_programs));
  for (const std::string& name : more) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  for (const std::string& name : names) {
    const std::optional<toolchain::Program> program = toolchain::find_program(name, where);
    if (!program) continue;
    facts.programs.emplace(name, *program);
    if (const auto other = toolchain::program_behind(*program, where)) facts.shadowed.emplace(name, *other);
  }
}

// The folder itself, or its nearest existing parent.
fs::path nearest_folder(fs::path folder) {
  std::error_code error;
  folder = fs::absolute(folder, error).lexically_normal();
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

BuildFolder examine_place(const std::string& name, const fs::path& folder) {
  BuildFolder place{.name = name, .folder = folder, .free = 0, .problem = {}};
  try {
    const fs::path there = nearest_folder(folder);
    std::error_code error;
    if (!fs::is_directory(there, error)) throw Error(there.string() + " is not a folder");
    place.free = sys::free_disk_bytes(there);
    // Writing a file detects missing permissions, read-only mounts and quotas; without commit() nothing is left behind.
    sys::AtomicFile probe(there / "wheelsmith-probe");
    probe.write("x");
  } catch (const Error& error) {
    place.problem = error.what();
  }
  return place;
}

}  // namespace

bool torch_comes_with_wheels(const recipe::Rules& rules, const Facts& facts) {
  return rules.requires_versions.uses_torch && (!facts.torch || facts.torch->folder.empty());
}

Facts collect_facts(const toolchain::Host& where, const Paths& paths, const std::vector<std::string>& programs) {
  Facts facts;
  facts.compiler = looked([&] { return toolchain::find_compiler(where); }, facts.compiler_problem);
  facts.cuda = looked([&] { return toolchain::find_cuda(where); }, facts.cuda_problem);
  facts.rocm = looked([&] { return toolchain::find_rocm(where); }, facts.rocm_problem);
  facts.cuda_named = !where.cuda.empty();
  find_programs_of_builds(facts, where, programs);
  facts.package_manager = toolchain::package_manager(where);
  facts.gpus = toolchain::find_gpus(where);
  if (where.described) {
    for (const toolchain::DescribedPlace& place : where.described->places)
      facts.places.push_back({.name = place.name, .folder = place.folder, .free = place.free, .problem = {}});
    facts.memory = where.described->memory;
    facts.isolates_network = where.described->isolates_network;
    return facts;
  }
  std::string ignored;
  facts.memory = looked([] { return sys::memory(); }, ignored);
  const std::pair<const char*, const fs::path&> places[] = {
      {"store", paths.store}, {"temporary", paths.temporary}, {"out", paths.out}};
  for (const auto& [name, folder] : places) {
    if (!folder.empty()) facts.places.push_back(examine_place(name, folder));
  }
  facts.isolates_network = sys::can_isolate_network();
  facts.sandbox_problem = sys::sandbox_support().why_no_filter;
  return facts;
}

void find_rocm_of(Facts& facts, const toolchain::Python& python, const toolchain::Host& where) {
  if (python.executable.empty()) return;
  facts.rocm_problem.clear();
  facts.rocm = looked([&] { return toolchain::find_rocm(where, &python); }, facts.rocm_problem);
  if (facts.rocm || !facts.rocm_problem.empty() || where.described) return;
  // Report an installation that does not work (its devel package is missing).
  (void)toolchain::read_rocm_sdk(python, where, &facts.rocm_problem);
}

void find_required_libraries(Facts& facts, const recipe::Rules& rules, recipe::Variant variant,
                             const std::vector<fs::path>& sites, const toolchain::Host& where) {
  facts.libraries.clear();
  const Toolkit toolkit = choose_toolkit(rules, variant, facts);
  toolchain::LibrarySearch search;
  if (toolkit.from == Toolkit::From::machine) search.cuda = toolkit.cuda.root;
  if (variant == recipe::Variant::rocm && facts.rocm) search.rocm = facts.rocm->root;
  search.sites = sites;
  for (const recipe::RequiredLibrary& required : rules.requires_versions.libraries) {
    const toolchain::LibraryKind* kind = plan::required_kind(required, variant);
    if (kind == nullptr) continue;
    search.named = plan::named_place(required, facts.settings);
    toolchain::Library library = toolchain::find_library(*kind, search, where);
    // Libraries in wheels are known only when the wheels are resolved.
    const bool of_wheels = (kind->variant == "rocm" && !facts.rocm) ||
                           (kind->variant == "cuda" && toolkit.from == Toolkit::From::registry) ||
                           (!kind->wheels.empty() && torch_comes_with_wheels(rules, facts));
    if (of_wheels && library.state() != toolchain::Library::State::found && search.named.empty())
      library.unknown = true;
    facts.libraries.insert_or_assign(required.name, std::move(library));
  }
}

void find_torch_of(Facts& facts, const fs::path& python, const toolchain::Host& where) {
  facts.torch = looked([&] { return toolchain::find_torch(python, false, where); }, facts.torch_problem);
}

}  // namespace wheelsmith::doctor
