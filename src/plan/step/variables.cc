// The environment of a step; nothing is inherited. Leftovers in the user's shell (old CFLAGS, a proxy, PYTHONPATH) must
// not affect a result. Only the variables set here do, and they are part of the key. Build paths are written as
// ${tree}, ${env}, ${toolkit} and ${rocm}; the step's process replaces them.

#include "plan/step/variables.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/zip_epoch.h"
#include "choose/user_variables.h"
#include "plan/rocm.h"
#include "sys/file.h"

namespace wheelsmith::plan {

namespace {

using Variables = std::map<std::string, std::string>;

// Progress with the seconds since ninja started. "%w" would be shorter for long builds, but ninja before 1.12 rejects
// it.
constexpr std::string_view k_ninja_status = "[%f/%t %es] ";
// It affects only the log, so the key does not contain it, even if the user sets it.
constexpr std::string_view k_ninja_variable = "NINJA_STATUS";
constexpr std::string_view k_system_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

void append(std::string& text, std::string_view more) {
  if (!text.empty() && !more.empty()) text += ' ';
  text += more;
}

// Folder names that would end up in binaries (__FILE__, debug information) become short fixed ones.
std::string prefix_maps(const BuildSpec& spec) {
  std::string maps = "-ffile-prefix-map=${tree}=. -ffile-prefix-map=${env}=env";
  if (spec.variant == recipe::Variant::cuda) maps += " -ffile-prefix-map=${toolkit}=cuda";
  return maps;
}

// In newer setuptools, CFLAGS replaces the interpreter's flags instead of being appended. So it must contain them (-O3
// -DNDEBUG -fwrapv), or a release is compiled without optimization.
std::string optimization(const std::string& build_type) {
  if (build_type == "debug") return "-O0 -g -fwrapv";
  if (build_type == "relwithdebinfo") return "-O2 -g -DNDEBUG -fwrapv";
  if (build_type == "minsizerel") return "-Os -DNDEBUG -fwrapv";
  return "-O3 -DNDEBUG -fwrapv";
}

bool is_stripped(const std::string& build_type) { return build_type == "release" || build_type == "minsizerel"; }

Variables isolation() {
  return {
      {"HOME", "${tree}/home"},
      {"TMPDIR", "${tree}/tmp"},
      {"LANG", "C.UTF-8"},
      {"LC_ALL", "C.UTF-8"},
      {"TZ", "UTC"},
      {"PYTHONHASHSEED", "0"},
      {"PYTHONNOUSERSITE", "1"},
      {"PYTHONUNBUFFERED", "1"},
      // A pip called by setup.py finds no index and makes no requests.
      {"PIP_NO_INDEX", "1"},
      {"PIP_NO_INPUT", "1"},
      {"PIP_DISABLE_PIP_VERSION_CHECK", "1"},
      {"PIP_CONFIG_FILE", "/dev/null"},
      // The version must come from the source, never from a repository above the tree.
      {"GIT_CEILING_DIRECTORIES", "${tree}"},
      {"GIT_TERMINAL_PROMPT", "0"},
      {"GIT_CONFIG_NOSYSTEM", "1"},
  };
}

void add_compilers(Variables& variables, const BuildSpec& spec, const toolchain::Host& host) {
  std::string flags = optimization(spec.build_type);
  append(flags, prefix_maps(spec));
  std::string link = is_stripped(spec.build_type) ? "-Wl,-s" : "";
  if (!host.sysroot.empty()) {
    const std::string sysroot = "--sysroot=" + host.sysroot.string();
    append(flags, sysroot);
    append(link, sysroot);
  }
  variables["CC"] = "${tree}/bin/cc";
  variables["CXX"] = "${tree}/bin/c++";
  variables["CFLAGS"] = flags;
  variables["CXXFLAGS"] = flags;
  if (!link.empty()) variables["LDFLAGS"] = link;
}

constexpr int k_least_standard = 17;  // of CUDA's own headers

void add_cuda(Variables& variables, const BuildSpec& spec, int standard, bool allow_unsupported) {
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT"}) variables[name] = "${toolkit}";
  variables["CUDACXX"] = "${toolkit}/bin/nvcc";
  variables["CUDAHOSTCXX"] = "${tree}/bin/c++";
  std::string host;
  const std::string maps = prefix_maps(spec);
  for (const std::string_view flag : split(maps, ' ')) append(host, fmt::format("-Xcompiler {}", flag));
  variables["NVCC_APPEND_FLAGS"] = host;
  std::string first;
  // nvcc finds gcc in PATH; clang must be given explicitly and must use libstdc++. Without -std, nvcc uses clang's
  // default, which is C++14 up to clang 15, but CUDA's headers need C++17. The flag is given only to nvcc, which passes
  // it on; the package's own -std comes later and overrides it for both.
  if (spec.tools.compiler_family == "clang")
    first = fmt::format("-ccbin=${{tree}}/bin/c++ -Xcompiler -stdlib=libstdc++ -std=c++{}",
                        std::max(standard, k_least_standard));
  if (allow_unsupported) append(first, "-allow-unsupported-compiler");
  if (!first.empty()) variables["NVCC_PREPEND_FLAGS"] = first;
}

// The verbosity switch of each tool.
Variables more_words(const recipe::Rules& rules, const Placeholders& values) {
  Variables variables = {
      {"VERBOSE", "1"}, {"CMAKE_VERBOSE_MAKEFILE", "ON"}, {"NVCC_VERBOSE", "1"}, {"HIPCC_VERBOSE", "7"}};
  for (const auto& [name, value] : rules.verbose) variables[name] = recipe::expand(value, values);
  return variables;
}

}  // namespace

std::optional<std::string> expand_or_nothing(const std::string& text, const Placeholders& values) {
  std::string expanded = recipe::expand(text, values);
  if (expanded.empty() && !text.empty()) return std::nullopt;
  return expanded;
}

namespace {

Variables fixed_variables(const VariableInputs& inputs) {
  const BuildSpec& spec = inputs.spec;
  const recipe::Rules& rules = inputs.rules;
  Variables variables = isolation();
  const auto date = inputs.host.environment.find("SOURCE_DATE_EPOCH");
  variables["SOURCE_DATE_EPOCH"] =
      date != inputs.host.environment.end() && to_number(date->second) ? date->second : std::to_string(k_zip_epoch);
  std::string path = "${env}/bin:${tree}/bin";
  // Programs installed with the environment's packages: ninja, cmake.
  if (!spec.environment.isolated) path += ":" + (spec.python.prefix / "bin").string();
  if (spec.variant == recipe::Variant::cuda) path += ":${toolkit}/bin";
  if (spec.variant == recipe::Variant::rocm) path += rocm_search_path(spec.tools.rocm);
  variables["PATH"] = path + ":" + std::string(k_system_path);
  add_compilers(variables, spec, inputs.host);
  if (spec.variant == recipe::Variant::cuda)
    add_cuda(variables, spec, rules.requires_versions.cxx_standard, inputs.allow_unsupported_compiler);
  if (spec.variant == recipe::Variant::rocm) add_rocm_variables(variables, spec.tools.rocm, prefix_maps(spec));
  if (!rules.archs.variable.empty() && !spec.archs.requests.empty())
    variables[rules.archs.variable] = inputs.values.at("archs");
  for (const recipe::Fetch& fetch : rules.fetches) {
    const std::string place = fetched_place(fetch, inputs.fetches);
    if (!fetch.variable.empty() && !place.empty()) variables[fetch.variable] = place;
  }
  for (const auto& [name, value] : rules.environment) {
    if (const auto expanded = expand_or_nothing(value, inputs.values)) variables[name] = *expanded;
  }
  for (const auto& [name, value] : rules.append) append(variables[name], recipe::expand(value, inputs.values));
  // Variables that correspond to an option were already used by the plan; the build gets the plan's value.
  for (const auto& [name, value] : inputs.user) {
    if (choose::option_of_variable(name).empty() && name != k_ninja_variable) variables[name] = value;
  }
  return variables;
}

Variables all_loose_variables(const VariableInputs& inputs, const Variables& fixed) {
  Variables loose = {{"MAX_JOBS", "${jobs}"}, {"CMAKE_BUILD_PARALLEL_LEVEL", "${jobs}"}};
  const auto status = inputs.user.find(std::string(k_ninja_variable));
  loose.emplace(k_ninja_variable, status != inputs.user.end() ? status->second : k_ninja_status);
  // rustup's cargo searches for the real one in the home folder, but a step has another HOME.
  if (inputs.spec.tools.programs.contains("cargo")) {
    const sys::Environment& around = inputs.host.environment;
    const auto said = around.find("RUSTUP_HOME"), home = around.find("HOME");
    if (said != around.end())
      loose["RUSTUP_HOME"] = said->second;
    else if (home != around.end() && sys::is_folder(home->second + "/.rustup"))
      loose["RUSTUP_HOME"] = home->second + "/.rustup";
  }
  if (!inputs.spec.verbose) return loose;
  for (const auto& [name, value] : more_words(inputs.rules, inputs.values)) loose[name] = value;
  if (inputs.spec.variant == recipe::Variant::cuda)
    loose["NVCC_APPEND_FLAGS"] = fixed.at("NVCC_APPEND_FLAGS") + " -Xptxas -v";
  return loose;
}

}  // namespace

Pairs loose_variables(const VariableInputs& inputs, const Pairs& given) {
  const Variables fixed(given.begin(), given.end());
  Pairs loose;
  for (const auto& [name, value] : all_loose_variables(inputs, fixed)) {
    // Values set by the recipe or the user take precedence.
    const bool taken = fixed.contains(name) && name != "NVCC_APPEND_FLAGS";
    if (!taken) loose.emplace_back(name, value);
  }
  return loose;
}

VariableSpec make_variables(const VariableInputs& inputs) {
  const Variables fixed = fixed_variables(inputs);
  VariableSpec result;
  result.fixed.assign(fixed.begin(), fixed.end());
  result.loose = loose_variables(inputs, result.fixed);
  return result;
}

}  // namespace wheelsmith::plan
