// Checks of the machine itself. Only what every build needs can be bad; what some packages need is unknown until a
// package is given.

#include <fmt/format.h>

#include "base/text.h"
#include "doctor/case.h"

namespace wheelsmith::doctor {

namespace {

Check python_check(const toolchain::Python& python) {
  Check check{.id = "python-" + python.short_version() + (python.abi.ends_with('t') ? "t" : ""),
              .found = fmt::format("{} ({})", python.version, python.executable.string()),
              .wanted = "headers, venv and pip"};
  std::vector<std::string> missing;
  if (!python.has_headers) missing.emplace_back("Python.h");
  if (!python.has_venv) missing.emplace_back("venv");
  if (!python.has_pip) missing.emplace_back("pip");
  if (missing.empty()) return check;
  check.state = State::unknown;
  check.found += ", without " + join(missing, ", ");
  check.why = "a build for this Python needs them";
  if (python.base_prefix == "/usr")
    check.fix = fmt::format("apt-get install python{0}-dev python{0}-venv python3-pip", python.short_version());
  return check;
}

Check missing(const char* id, const std::string& problem, State state, const char* wanted, const char* why,
              const char* fix) {
  return {
      .id = id, .state = state, .found = problem.empty() ? "none" : problem, .wanted = wanted, .why = why, .fix = fix};
}

Check compiler_check(const Facts& facts) {
  if (!facts.compiler)
    return missing("compiler", facts.compiler_problem, State::bad, "a C++ compiler",
                   "packages are compiled on this machine", "apt-get install build-essential");
  const toolchain::Compiler& compiler = *facts.compiler;
  return {.id = "compiler",
          .found = fmt::format("{} {} ({}), C++{}, glibc {}, GLIBCXX {}", compiler.family, compiler.version,
                               compiler.cxx.string(), compiler.newest_standard, compiler.glibc, compiler.glibcxx),
          .wanted = "a C++ compiler"};
}

Check cuda_check(const Facts& facts) {
  if (!facts.cuda) {
    const State state = !facts.cuda_problem.empty() ? State::bad : facts.offline ? State::unknown : State::good;
    return missing(
        "cuda", facts.cuda_problem, state, "nvcc, for CUDA packages",
        "without one, builds install a toolkit from nvidia-* wheels of the package index (CUDA 13.0 and later)",
        facts.cuda_problem.empty() ? "" : "correct --cuda (CUDA_HOME), or omit it");
  }
  Check check{.id = "cuda",
              .found = fmt::format("nvcc {} in {}", facts.cuda->full_version, facts.cuda->root.string()),
              .wanted = "nvcc, for CUDA packages"};
  if (!facts.compiler) return check;
  check.why = toolchain::host_compiler_problem(*facts.cuda, *facts.compiler);
  if (check.why.empty()) return check;
  check.state = State::unknown;
  check.fix = fmt::format("give an older compiler with --cc and --cxx, such as gcc-{0} and g++-{0}",
                          std::min(facts.cuda->max_gcc, 12));
  return check;
}

Check rocm_check(const Facts& facts) {
  if (!facts.rocm) {
    bool amd = false;
    for (const toolchain::Gpu& gpu : facts.gpus) amd = amd || gpu.arch.vendor == gpu::Vendor::amd;
    const State state = !facts.rocm_problem.empty() ? State::bad : amd ? State::unknown : State::good;
    return missing("rocm", facts.rocm_problem, state, "hipcc, for ROCm packages",
                   amd ? "this machine has an AMD GPU" : "only ROCm packages need it",
                   amd ? "--rocm DIR, or apt-get install rocm-hip-sdk (AMD's repository)" : "");
  }
  return {
      .id = "rocm",
      .found = fmt::format("ROCm {} in {}, device libraries {}", facts.rocm->version, facts.rocm->root.string(),
                           facts.rocm->device_libraries.empty() ? "missing" : facts.rocm->device_libraries.string()),
      .wanted = "hipcc, for ROCm packages"};
}

Check torch_check(const Facts& facts) {
  if (!facts.torch)
    return missing("torch", facts.torch_problem, State::good, "torch, for its extensions",
                   "without one, it comes from the package index", "");
  return {.id = "torch",
          .found = fmt::format("torch {} ({}) in {}", facts.torch->version, facts.torch->variant(),
                               facts.torch->folder.string()),
          .wanted = "torch, for its extensions"};
}

struct Tool {
  const char* name;
  State without;
  const char* why;
};

constexpr Tool k_tools[] = {
    {"curl", State::bad, "it downloads sources and wheels"},
    {"git", State::unknown, "sources that are git repositories, and patches, need it"},
    {"cmake", State::unknown, "packages that do not install it into their build environment need it"},
    {"ninja", State::unknown, "packages that do not install it into their build environment need it"},
    {"uv", State::unknown, "it creates environments faster"},
};

Check tool_check(const Tool& tool, const Facts& facts) {
  const auto found = facts.programs.find(tool.name);
  if (found == facts.programs.end())
    return {.id = tool.name,
            .state = facts.offline ? State::unknown : tool.without,
            .found = "none",
            .wanted = tool.name,
            .why = tool.why,
            .fix = install_program(tool.name)};
  const toolchain::Program& program = found->second;
  Check check{.id = tool.name,
              .found = fmt::format("{} ({}, {})", program.version, program.path.string(), to_string(program.origin)),
              .wanted = tool.name};
  if (const auto behind = facts.shadowed.find(tool.name); behind != facts.shadowed.end())
    check.found += fmt::format(", which shadows {} ({})", behind->second.version, behind->second.path.string());
  return check;
}

Check gpus_check(const Facts& facts) {
  std::vector<std::string> names;
  for (const toolchain::Gpu& gpu : facts.gpus)
    names.push_back(fmt::format("{} ({})", gpu.name, gpu::to_string({.arch = gpu.arch, .binary = true, .ptx = false})));
  if (!names.empty()) return {.id = "gpu", .found = join(names, ", "), .wanted = "a GPU, for tests that need one"};
  return missing("gpu", "", State::unknown, "a GPU, for tests that need one",
                 "builds need none: choose the target with --arch or --gpu; tests that need a GPU are not run", "");
}

Check place_check(const BuildFolder& place) {
  Check check{.id = "disk-" + place.name,
              .found = fmt::format("{} free in {}", human_bytes(place.free), place.folder.string()),
              .wanted = "a writable folder"};
  if (place.problem.empty()) return check;
  check.state = State::bad;
  check.found = place.problem;
  check.fix = place.name == "temporary" ? "TMPDIR=DIR" : fmt::format("--{} DIR", place.name);
  return check;
}

}  // namespace

std::vector<Check> survey(const std::vector<toolchain::Python>& pythons, const Facts& facts) {
  std::vector<Check> checks;
  if (pythons.empty()) {
    checks.push_back(missing("python", facts.python_problem, State::bad, "a Python",
                             "a wheel is built with the interpreter that it is for",
                             "apt-get install python3 python3-dev python3-venv python3-pip"));
  }
  for (const toolchain::Python& python : pythons) checks.push_back(python_check(python));
  checks.push_back(compiler_check(facts));
  checks.push_back(cuda_check(facts));
  checks.push_back(rocm_check(facts));
  checks.push_back(torch_check(facts));
  for (const Tool& tool : k_tools) checks.push_back(tool_check(tool, facts));
  checks.push_back(gpus_check(facts));
  checks.push_back(
      {.id = "memory",
       .found = fmt::format("{}, {} free", human_bytes(facts.memory.total), human_bytes(facts.memory.available)),
       .wanted = "enough for the compile jobs of a package"});
  for (const BuildFolder& place : facts.places) checks.push_back(place_check(place));
  checks.push_back(
      {.id = "isolation",
       .state = facts.isolates_network ? State::good : State::unknown,
       .found = facts.isolates_network ? "a separate network namespace" : "namespaces are not allowed on this machine",
       .wanted = "no network while compiling",
       .why = facts.isolates_network ? "" : "instead, the proxy variables point to an address where nothing listens"});
  if (std::optional<Check> check = sandbox_check(facts)) checks.push_back(std::move(*check));
  return checks;
}

}  // namespace wheelsmith::doctor
