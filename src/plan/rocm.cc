// ROCm for a step.
// The step always uses ROCm through ${rocm}, a link in its tree. So neither the key nor CMake's files contain a path of
// the machine. Packages that expect a fixed folder (/opt/rocm) are redirected by their variables; wheelsmith never
// writes to /opt. The key contains the content: the digests of the compiler, the device libraries and the version
// headers, or the hashes of the wheels.

#include "plan/rocm.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "choose/rocm_index.h"
#include "choose/toolkit.h"
#include "env/rocm_wheels.h"
#include "gpu/arch_words.h"
#include "pep/requirement.h"
#include "pep/version.h"
#include "sys/file.h"

namespace wheelsmith::plan {

namespace {

// The paths in the SDK's wheels, also assumed for a ROCm that does not exist yet.
constexpr std::string_view k_clang = "lib/llvm/bin";
constexpr std::string_view k_device_libraries = "lib/llvm/amdgcn/bitcode";

std::string below(const std::filesystem::path& path, const std::filesystem::path& root) {
  return path.empty() ? "" : path.lexically_relative(root).string();
}

std::vector<std::string> targets_of(const gpu::ArchList& archs) {
  std::vector<std::string> targets;
  for (const gpu::ArchRequest& request : archs.requests) {
    std::string name = gpu::to_string(request);
    name.erase(std::min(name.find(':'), name.size()));  // code for "gfx90a:xnack-" is in the wheel of gfx90a
    if (std::find(targets.begin(), targets.end(), name) == targets.end()) targets.push_back(name);
  }
  return targets;
}

// Names of suitable wheels: the processor's own, then each family that contains all targets.
std::vector<std::string> families_of(const std::vector<std::string>& targets) {
  std::vector<std::string> names;
  if (targets.size() == 1) names.push_back(targets.front());
  for (const gpu::NamedTargets& family : gpu::amd_families()) {
    const bool has_all = std::all_of(targets.begin(), targets.end(), [&](const std::string& target) {
      return std::find(family.members.begin(), family.members.end(), target) != family.members.end();
    });
    if (has_all && !targets.empty()) names.push_back(family.name);
  }
  return names;
}

struct Found {
  env::RocmWheels wheels;
  std::string url;
};

Found look_in_index(const BuildSpec& spec, const recipe::Rules& rules, const choose::Request& request,
                    const PlanInputs& inputs) {
  env::RocmWanted wanted;
  wanted.specifiers = request.rocm_requirement.empty() ? rules.requires_versions.rocm : request.rocm_requirement;
  wanted.targets = targets_of(spec.archs);
  wanted.families = families_of(wanted.targets);
  const bool by_family = request.rocm_index.find("{family}") != std::string::npos;
  std::string problem;
  for (const std::string& family : by_family ? wanted.families : std::vector<std::string>{""}) {
    const std::string url = choose::rocm_index_url(request.rocm_index, request.rocm_channel, family);
    fetch::FetchOptions options = inputs.fetcher.options();
    options.index = {};
    options.index.index_url = url;
    fetch::Fetcher index(inputs.store, options);
    try {
      return {env::choose_rocm_wheels(wanted, index), url};
    } catch (const Error& error) {
      if (problem.empty()) problem = error.what();
    }
  }
  if (by_family && wanted.families.empty())
    problem =
        fmt::format("no family of ROCm wheels contains all of {}; build for one at a time", join(wanted.targets, ", "));
  throw Error(fmt::format("{}: this machine has no ROCm, and none can be installed from {}: {}", spec.package,
                          fetch::without_credentials(request.rocm_index), problem));
}

}  // namespace

choose::Chosen<RocmSpec> plan_rocm(const BuildSpec& spec, const recipe::Rules& rules, const choose::Request& request,
                                   const PlanInputs& inputs) {
  choose::Chosen<RocmSpec> chosen;
  RocmSpec& rocm = chosen.what;
  rocm.clang = k_clang;
  rocm.device_libraries = k_device_libraries;
  const std::string& specifiers = rules.requires_versions.rocm;
  const auto here = toolchain::find_rocm(inputs.host, &spec.python);
  switch (choose::choose_rocm({.here = here,
                               .named = !inputs.host.rocm.empty(),
                               .has_index = !request.rocm_index.empty(),
                               .may_ask = !inputs.host.described,
                               .build_needs = rules.requires_versions.needs_rocm,
                               .specifiers = specifiers})) {
    case choose::RocmChoice::machine:
      rocm.root = here->root.string();
      rocm.version = here->version;
      rocm.clang = below(here->clang, here->root);
      rocm.device_libraries = below(here->device_libraries, here->root);
      return chosen;
    case choose::RocmChoice::unneeded: return chosen;
    case choose::RocmChoice::missing:
      chosen.notes.push_back(fmt::format(
          "{}: this machine has no ROCm, so it cannot be built yet; give one with --rocm, or an index of its wheels "
          "with --rocm-index; `wheelsmith doctor {} --variant rocm` lists everything that is missing",
          spec.package, spec.package));
      return chosen;
    case choose::RocmChoice::index: break;
  }
  const Found found = look_in_index(spec, rules, request, inputs);
  env::ResolveOptions options;
  options.upgrade = request.upgrade;
  options.offline = request.offline;
  options.index_urls = {found.url};
  options.prereleases = true;  // the version is already chosen
  rocm.lock = env::resolve(found.wheels.requirements, spec.python, inputs.fetcher, inputs.store, options);
  rocm.version = rocm.index_version = found.wheels.version;
  rocm.index = fetch::without_credentials(found.url);
  chosen.notes.push_back(
      fmt::format("{}: using ROCm {} from the wheels of {}, because {}", spec.package, rocm.version, rocm.index,
                  here ? fmt::format("the recipe requires ROCm {}", specifiers) : "this machine has none"));
  return chosen;
}

Pairs rocm_digests(const BuildSpec& spec, const toolchain::Host& host) {
  Pairs digests;
  if (spec.tools.rocm.root.empty()) {
    for (const env::PinnedWheel& wheel : spec.tools.rocm.lock.wheels)
      digests.emplace_back(wheel.name, fmt::format("{} {}", wheel.version, wheel.sha256));
  } else if (const auto rocm = toolchain::find_rocm(host, &spec.python)) {
    digests = rocm->digests;
  }
  return digests;
}

void add_rocm_variables(std::map<std::string, std::string>& variables, const RocmSpec& rocm, const std::string& flags) {
  for (const char* name : {"ROCM_HOME", "ROCM_PATH", "HIP_PATH", "HIP_ROOT_DIR", "ROCM_ROOT_DIR", "CMAKE_PREFIX_PATH"})
    variables[name] = "${rocm}";
  variables["HIP_PLATFORM"] = "amd";
  if (!rocm.device_libraries.empty()) {
    // Old compilers read the second one.
    for (const char* name : {"HIP_DEVICE_LIB_PATH", "DEVICE_LIB_PATH"})
      variables[name] = "${rocm}/" + rocm.device_libraries;
  }
  // CMake rejects hipcc as its HIP compiler and needs the clang that it calls.
  if (!rocm.clang.empty()) {
    variables["HIP_CLANG_PATH"] = "${rocm}/" + rocm.clang;
    variables["HIPCXX"] = "${rocm}/" + rocm.clang + "/clang++";
  }
  variables["HIPFLAGS"] = "--rocm-path=${rocm} " + flags;
  variables["HIPCC_COMPILE_FLAGS_APPEND"] = flags;
}

std::optional<std::string> sdk_names(const RocmSpec& rocm, const recipe::Preload& preload,
                                     const toolchain::Host& host) {
  if (host.described || rocm.root.empty() || preload.names_file.empty()) return std::nullopt;
  // The SDK's folder is in site-packages, beside Python packages.
  return sys::read_file_if_there(std::filesystem::path(rocm.root).parent_path() / preload.names_file, 1 << 20);
}

std::string rocm_search_path(const RocmSpec& rocm) {
  std::string path = ":${rocm}/bin";
  if (!rocm.clang.empty()) path += ":${rocm}/" + rocm.clang;
  return path;
}

}  // namespace wheelsmith::plan
