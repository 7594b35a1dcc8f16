// The environment of a step, made from nothing. What a user's shell happens to hold (CFLAGS of an afternoon long ago, a
// proxy, a PYTHONPATH) decides no result of ours: only what stands here does, and it is part of the key. Paths of our
// own stand as
// ${tree}, ${env}, ${toolkit} and ${rocm}; the step's process puts the real ones in.

#include "plan/variables.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/version.h"
#include "plan/placeholder_values.h"
#include "plan/rocm.h"
#include "source/git/mirrors.h"
#include "sys/file.h"

namespace wheelsmith::plan {

namespace {

using Variables = std::map<std::string, std::string>;

constexpr std::string_view k_system_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
// Wheels are dated by this when the user sets no SOURCE_DATE_EPOCH: 1980-01-01, the first day that ZIP knows.
constexpr std::string_view k_first_day = "315532800";

void append(std::string& text, std::string_view more) {
  if (!text.empty() && !more.empty()) text += ' ';
  text += more;
}

// Folder names that would end up in binaries (__FILE__, debug information) become short fixed ones.
std::string prefix_maps(const Step& step) {
  std::string maps = "-ffile-prefix-map=${tree}=. -ffile-prefix-map=${env}=env";
  if (step.variant == recipe::Variant::cuda) maps += " -ffile-prefix-map=${toolkit}=cuda";
  return maps;
}

// Newer setuptools lets CFLAGS stand in place of the interpreter's own flags, not behind them: what the interpreter
// would have said (-O3 -DNDEBUG -fwrapv) must be in it, or a release is compiled without any optimisation.
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
      // A pip that a setup.py calls finds no index, and asks nobody.
      {"PIP_NO_INDEX", "1"},
      {"PIP_NO_INPUT", "1"},
      {"PIP_DISABLE_PIP_VERSION_CHECK", "1"},
      {"PIP_CONFIG_FILE", "/dev/null"},
      // A version comes from the source, never from a repository that happens to be above the tree.
      {"GIT_CEILING_DIRECTORIES", "${tree}"},
      {"GIT_TERMINAL_PROMPT", "0"},
      {"GIT_CONFIG_NOSYSTEM", "1"},
  };
}

void add_compilers(Variables& variables, const Step& step, const PlanInputs& inputs) {
  std::string flags = optimization(step.build_type);
  append(flags, prefix_maps(step));
  std::string link = is_stripped(step.build_type) ? "-Wl,-s" : "";
  if (!inputs.host.sysroot.empty()) {
    const std::string sysroot = "--sysroot=" + inputs.host.sysroot.string();
    append(flags, sysroot);
    append(link, sysroot);
  }
  variables["CC"] = "${tree}/bin/cc";
  variables["CXX"] = "${tree}/bin/c++";
  variables["CFLAGS"] = flags;
  variables["CXXFLAGS"] = flags;
  if (!link.empty()) variables["LDFLAGS"] = link;
}

void add_cuda(Variables& variables, const Step& step) {
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT"}) variables[name] = "${toolkit}";
  variables["CUDACXX"] = "${toolkit}/bin/nvcc";
  variables["CUDAHOSTCXX"] = "${tree}/bin/c++";
  std::string host;
  const std::string maps = prefix_maps(step);
  for (const std::string_view flag : split(maps, ' ')) append(host, fmt::format("-Xcompiler {}", flag));
  variables["NVCC_APPEND_FLAGS"] = host;
  // nvcc takes gcc from PATH by itself; clang must be named, and must use the standard library that nvcc knows.
  if (step.compiler_family == "clang")
    variables["NVCC_PREPEND_FLAGS"] = "-ccbin=${tree}/bin/c++ -Xcompiler -stdlib=libstdc++";
}

// A text that is nothing once its placeholders are filled says nothing: a setting was left empty.
std::optional<std::string> expand_or_nothing(const std::string& text, const Variables& values) {
  std::string expanded = recipe::expand(text, values);
  if (expanded.empty() && !text.empty()) return std::nullopt;
  return expanded;
}

// The module that loads ROCm's libraries before the package's own, as frameworks call it.
std::string preload_module(const recipe::Preload& preload, const std::string& version) {
  std::string text =
      "# Made by wheelsmith: loads ROCm's libraries out of its Python packages.\n\n\ndef initialize():\n";
  text += "    import rocm_sdk\n\n    rocm_sdk.initialize_process(\n        preload_shortnames=[\n";
  for (const std::string& library : preload.libraries) text += fmt::format("            \"{}\",\n", library);
  text += fmt::format("        ],\n        check_version=\"{}\",\n    )\n", version);
  return text;
}

void set_files(Step& step, const recipe::Rules& rules, const Variables& values) {
  for (const auto& [path, text] : rules.files) step.files.emplace_back(path, recipe::expand(text, values));
  if (!rules.preload.module.empty() && !rules.preload.libraries.empty() && step.variant == recipe::Variant::rocm)
    step.files.emplace_back(rules.preload.module, preload_module(rules.preload, step.rocm_version));
  if (!rules.checkout.hipify.empty() && !step.source.incremental)
    step.prepare.push_back({"${env}/bin/python", rules.checkout.hipify});
  // A command that takes what was not fetched has nothing to do.
  const auto lacks = [&](const recipe::Prepare& prepare) {
    return std::any_of(prepare.command.begin(), prepare.command.end(), [&](const std::string& word) {
      return std::any_of(rules.fetches.begin(), rules.fetches.end(), [&](const recipe::Fetch& fetch) {
        return word.find("{fetch." + fetch.name + "}") != word.npos && values.at("fetch." + fetch.name).empty();
      });
    });
  };
  for (const recipe::Prepare& prepare : rules.prepare) {
    if (lacks(prepare)) continue;
    std::vector<std::string>& command = step.prepare.emplace_back();
    for (const std::string& word : prepare.command) {
      if (const auto expanded = expand_or_nothing(word, values)) command.push_back(*expanded);
    }
  }
}

void set_closing_words(Step& step, const recipe::Rules& rules, const Variables& values) {
  for (recipe::RuntimeVariable variable : rules.runtime) {
    variable.value = recipe::expand(variable.value, values);
    if (!variable.value.empty()) step.runtime.push_back(std::move(variable));
  }
  for (recipe::ChecklistItem item : rules.checklist) {
    for (std::string& folder : item.folders) folder = recipe::expand(folder, values);
    step.checklist.push_back(std::move(item));
  }
  for (const recipe::OtherPlatform& other : rules.platforms) {
    if (!step.platform.empty() && glob_match(other.match, step.platform)) step.other_rules.push_back(other);
  }
}

// What each tool understands by "say more".
Variables more_words(const recipe::Rules& rules, const Variables& values) {
  Variables variables = {
      {"VERBOSE", "1"}, {"CMAKE_VERBOSE_MAKEFILE", "ON"}, {"NVCC_VERBOSE", "1"}, {"HIPCC_VERBOSE", "7"}};
  for (const auto& [name, value] : rules.verbose) variables[name] = recipe::expand(value, values);
  return variables;
}

}  // namespace

void set_variables(Step& step, const recipe::Recipe& recipe, const recipe::Rules& rules, const Request& request,
                   const PlanInputs& inputs) {
  const Variables values = placeholder_values(step, recipe, rules, request);
  Variables variables = isolation();
  const auto date = inputs.host.environment.find("SOURCE_DATE_EPOCH");
  variables["SOURCE_DATE_EPOCH"] =
      date != inputs.host.environment.end() && to_number(date->second) ? date->second : std::string(k_first_day);
  std::string path = "${env}/bin:${tree}/bin";
  if (step.variant == recipe::Variant::cuda) path += ":${toolkit}/bin";
  if (step.variant == recipe::Variant::rocm) path += rocm_search_path(step);
  variables["PATH"] = path + ":" + std::string(k_system_path);
  add_compilers(variables, step, inputs);
  if (step.variant == recipe::Variant::cuda) add_cuda(variables, step);
  if (step.variant == recipe::Variant::rocm) add_rocm_variables(variables, step, prefix_maps(step));
  if (!rules.archs.variable.empty() && !step.archs.requests.empty())
    variables[rules.archs.variable] = values.at("archs");
  for (const FetchedSource& fetched : step.fetches) {
    if (!fetched.variable.empty()) variables[fetched.variable] = fetched_folder(fetched);
  }
  for (const auto& [name, value] : rules.environment) {
    if (const auto expanded = expand_or_nothing(value, values)) variables[name] = *expanded;
  }
  for (const auto& [name, value] : rules.append) append(variables[name], recipe::expand(value, values));
  for (const auto& [name, value] : request.environment) variables[name] = value;
  step.environment.assign(variables.begin(), variables.end());

  Variables loose = {{"MAX_JOBS", "${jobs}"}, {"CMAKE_BUILD_PARALLEL_LEVEL", "${jobs}"}};
  // rustup's cargo looks for the real one in the home folder, which is another one while a step runs.
  if (step.programs.contains("cargo")) {
    const sys::Environment& around = inputs.host.environment;
    const auto said = around.find("RUSTUP_HOME"), home = around.find("HOME");
    if (said != around.end())
      loose["RUSTUP_HOME"] = said->second;
    else if (home != around.end() && sys::is_folder(home->second + "/.rustup"))
      loose["RUSTUP_HOME"] = home->second + "/.rustup";
  }
  if (step.verbose) {
    for (const auto& [name, value] : more_words(rules, values)) loose[name] = value;
    if (step.variant == recipe::Variant::cuda)
      loose["NVCC_APPEND_FLAGS"] = variables["NVCC_APPEND_FLAGS"] + " -Xptxas -v";
  }
  for (const auto& [name, value] : loose) {
    // What the recipe or the user sets is theirs.
    const bool taken = variables.contains(name) && name != "NVCC_APPEND_FLAGS";
    if (!taken) step.volatile_environment.emplace_back(name, value);
  }
  for (const auto& [name, value] : rules.config) {
    if (const auto expanded = expand_or_nothing(value, values)) step.config.emplace_back(name, *expanded);
  }
  for (const std::string& option : rules.options) {
    if (const auto expanded = expand_or_nothing(option, values)) step.options.push_back(*expanded);
  }
  set_files(step, rules, values);
  set_closing_words(step, rules, values);
}

std::string fetched_folder(const FetchedSource& fetched) {
  return "${tree}/fetched/" + fetched.name + (fetched.subfolder.empty() ? "" : "/" + fetched.subfolder);
}

std::string variant_label(const Step& step) {
  if (step.variant != recipe::Variant::cuda) return std::string(recipe::to_string(step.variant));
  std::string version = step.cuda_version;
  version.erase(std::remove(version.begin(), version.end(), '.'), version.end());
  return "cu" + version;
}

}  // namespace wheelsmith::plan
