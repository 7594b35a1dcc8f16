// Programs and libraries that a recipe names. cmake deserves a second look: pip puts a cmake of its own before the
// system's into PATH, and people then wonder at "4.1" where apt says 3.25.

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "doctor/case.h"

namespace wheelsmith::doctor {

namespace {

// Debian's and Ubuntu's package of a program, where it has another name than the program.
constexpr std::pair<std::string_view, std::string_view> k_packages[] = {
    {"ninja", "ninja-build"},
    {"protoc", "protobuf-compiler"},
    {"c++", "g++"},
    {"cc", "gcc"},
    {"pkg-config", "pkgconf"},
    {"rustc", "rustc"},
    {"cargo", "cargo"},
    {"git-lfs", "git-lfs"},
    {"gfortran", "gfortran"},
    {"mpicc", "libopenmpi-dev"},
    {"xz", "xz-utils"},
    {"cmake", "cmake"},
    {"git", "git"},
    {"curl", "curl"},
    {"make", "make"},
    {"patch", "patch"},
    {"patchelf", "patchelf"},
    {"ccache", "ccache"},
    {"swig", "swig"},
    {"bison", "bison"},
    {"flex", "flex"},
    {"perl", "perl"},
    {"m4", "m4"},
    {"autoconf", "autoconf"},
    {"automake", "automake"},
    {"unzip", "unzip"},
    {"wget", "wget"},
    {"nasm", "nasm"},
    {"yasm", "yasm"},
    {"meson", "meson"},
    {"clang", "clang"},
    {"lld", "lld"},
};

const toolchain::Program* find(const std::map<std::string, toolchain::Program, std::less<>>& programs,
                               std::string_view name) {
  const auto found = programs.find(name);
  return found == programs.end() ? nullptr : &found->second;
}

std::string described_program(const toolchain::Program& program) {
  return fmt::format("{}{} ({})", program.name, program.version.empty() ? "" : " " + program.version,
                     program.path.string() + (program.origin == toolchain::Origin::pip ? ", installed by pip" : ""));
}

// The build environment brings it, so the machine's does not matter.
std::optional<Check> from_requirements(const Case& c, std::string_view name) {
  const std::optional<std::string> requirement = requirement_for(c.rules.requires_, name);
  if (!requirement) return std::nullopt;
  return Check{.id = std::string(name),
               .found = *requirement + " comes into the build environment",
               .wanted = std::string(name)};
}

Check check_cmake(const Case& c) {
  if (std::optional<Check> brought = from_requirements(c, "cmake")) return *brought;
  const std::string& specifiers = c.rules.requires_versions.cmake;
  Check check{.id = "cmake", .wanted = "cmake" + (specifiers.empty() ? "" : " " + specifiers)};
  const toolchain::Program* first = find(c.facts.programs, "cmake");
  const toolchain::Program* behind = find(c.facts.shadowed, "cmake");
  if (first == nullptr) {
    check.state = State::bad;
    check.found = "none";
    check.why = "the build calls it";
    check.fix = specifiers.empty() ? "apt-get install cmake" : fmt::format("pip install \"cmake{}\"", specifiers);
    return check;
  }
  check.found = described_program(*first) + (behind == nullptr ? "" : ", which shadows " + described_program(*behind));
  const std::optional<bool> fits = satisfies(first->version, specifiers);
  if (fits.value_or(false)) return check;
  check.state = fits ? State::bad : State::unknown;
  check.why = fits ? c.recipe.name + " takes these versions of cmake only" : "it does not say its version";
  const bool other_fits = behind != nullptr && satisfies(behind->version, specifiers).value_or(false);
  check.fix = other_fits ? "pip uninstall cmake" : fmt::format("pip install \"cmake{}\"", specifiers);
  return check;
}

Check check_program(const Case& c, const std::string& name, const std::string& why) {
  if (std::optional<Check> brought = from_requirements(c, name)) return *brought;
  Check check{.id = name, .wanted = name};
  if (const toolchain::Program* program = find(c.facts.programs, name)) {
    check.found = described_program(*program);
    return check;
  }
  check.state = State::bad;
  check.found = "none";
  check.why = why;
  check.fix = install_program(name);
  return check;
}

bool is_known_program(std::string_view name) {
  return std::any_of(std::begin(k_packages), std::end(k_packages),
                     [&](const auto& known) { return known.first == name; });
}

// One that must not be pip's, whatever PATH says.
Check check_system_program(const Case& c, const std::string& name, const std::string& why) {
  const std::string& specifiers = c.rules.requires_versions.cmake;
  const bool limited = name == "cmake" && !specifiers.empty();
  Check check{.id = name, .wanted = fmt::format("{}{} of the operating system", name, limited ? " " + specifiers : "")};
  const toolchain::Program* first = find(c.facts.programs, name);
  const toolchain::Program* behind = find(c.facts.shadowed, name);
  const bool shadowed = first != nullptr && first->origin == toolchain::Origin::pip;
  const toolchain::Program* taken = shadowed ? behind : first;  // as a plan takes it
  check.found = taken == nullptr ? (shadowed ? described_program(*first) : "none") : described_program(*taken);
  if (taken != nullptr && shadowed) check.found += ", and not " + described_program(*first);
  const bool fits = taken != nullptr && (!limited || satisfies(taken->version, specifiers).value_or(true));
  if (fits) return check;
  check.state = State::bad;
  check.why = taken == nullptr ? why : c.recipe.name + " takes these versions of it only";
  check.fix = taken == nullptr ? install_program(name)
                               : fmt::format("install {} {} (not by pip) and put it first into PATH", name, specifiers);
  return check;
}

struct Library {
  std::string_view name;
  std::string (*found)(const Facts& facts);  // "" when it is not there
  std::string_view fix;
};

constexpr Library k_libraries[] = {
    {"cudnn", [](const Facts& f) { return f.cuda ? f.cuda->cudnn : std::string(); },
     "apt-get install libcudnn9-dev-cuda-{} (NVIDIA's repository)"},
    {"nccl", [](const Facts& f) { return f.cuda ? f.cuda->nccl : std::string(); },
     "apt-get install libnccl-dev (NVIDIA's repository)"},
    {"nvml", [](const Facts& f) { return std::string(f.cuda && f.cuda->has_nvml ? "nvml.h and its stub" : ""); },
     "apt-get install cuda-nvml-dev-{}-{} (NVIDIA's repository)"},
    {"cublas", [](const Facts& f) { return std::string(f.cuda && f.cuda->has_cublas ? "cublas" : ""); },
     "apt-get install libcublas-dev-{}-{} (NVIDIA's repository)"},
    {"cusparse", [](const Facts& f) { return std::string(f.cuda && f.cuda->has_cusparse ? "cusparse" : ""); },
     "apt-get install libcusparse-dev-{}-{} (NVIDIA's repository)"},
    {"cudart", [](const Facts& f) { return std::string(f.cuda && f.cuda->has_cudart ? "cudart" : ""); },
     "apt-get install cuda-cudart-dev-{}-{} (NVIDIA's repository)"},
    {"cccl", [](const Facts& f) { return std::string(f.cuda && f.cuda->has_cccl ? "cccl" : ""); },
     "apt-get install cuda-cccl-{}-{} (NVIDIA's repository)"},
};

// Of the operating system: its header is there or it is not.
std::optional<Check> check_system_library(const Case& c, const std::string& name) {
  const auto found = c.facts.headers.find(to_lower(name));
  if (found == c.facts.headers.end()) return std::nullopt;
  const auto* known = std::find_if(std::begin(k_system_libraries), std::end(k_system_libraries),
                                   [&](const SystemLibrary& library) { return library.name == found->first; });
  if (known == std::end(k_system_libraries)) return std::nullopt;
  Check check{.id = name, .found = found->second, .wanted = std::string(known->header)};
  if (!check.found.empty()) return check;
  check.state = State::bad;
  check.found = "none";
  check.why = "the recipe names it as needed";
  const std::string& manager = c.facts.package_manager;
  const std::string_view package = manager == "dnf"      ? known->dnf
                                   : manager == "zypper" ? known->zypper
                                   : manager == "pacman" ? known->pacman
                                                         : known->apt;
  check.fix = fmt::format("{} {} {}", manager, manager == "pacman" ? "-S" : "install", package);
  return check;
}

std::optional<Check> check_library(const Case& c, const std::string& name) {
  if (std::optional<Check> system = check_system_library(c, name)) return system;
  Check check{.id = name, .wanted = name, .why = "the recipe names it as needed"};
  const auto* known = std::find_if(std::begin(k_libraries), std::end(k_libraries),
                                   [&](const Library& library) { return library.name == to_lower(name); });
  if (known == std::end(k_libraries)) {
    check.state = State::unknown;
    check.found = "not looked for";
    check.why = "doctor does not know where this library would be; the build will tell";
    return check;
  }
  if (c.toolkit.from == Toolkit::From::none) return std::nullopt;
  if (c.toolkit.from == Toolkit::From::registry) {
    check.state = State::unknown;
    check.found = "not known yet";
    check.why = "a toolkit made from the registry has what its wheels and torch's own bring";
    return check;
  }
  check.found = known->found(c.facts);
  if (!check.found.empty()) {
    check.why.clear();
    return check;
  }
  check.state = State::bad;
  check.found = "none in " + c.toolkit.cuda.root.string();
  const std::vector<std::string_view> parts = split(c.toolkit.cuda.version, '.');
  check.fix = fmt::format(fmt::runtime(known->fix), parts[0], parts.size() > 1 ? parts[1] : "0");
  return check;
}

}  // namespace

std::string install_program(std::string_view name) {
  if (name == "uv") return "pip install uv";
  for (const auto& [program, package] : k_packages) {
    if (program == name) return fmt::format("apt-get install {}", package);
  }
  return fmt::format("install {} and put it into PATH", name);
}

std::vector<Check> check_libraries(const Case& c) {
  std::vector<Check> checks;
  for (const std::string& name : c.rules.requires_versions.libraries) {
    if (std::optional<Check> check = check_library(c, name)) checks.push_back(std::move(*check));
  }
  return checks;
}

std::vector<Check> check_programs(const Case& c) {
  std::vector<Check> checks;
  const auto have = [&](std::string_view name) {
    return std::any_of(checks.begin(), checks.end(), [&](const Check& check) { return check.id == name; });
  };
  const recipe::Requires& limits = c.rules.requires_versions;
  const bool program = c.rules.backend == recipe::Rules::Backend::program;
  // Pip's may be of the right version, and is none of those that are meant.
  for (const auto& [name, why] : c.rules.not_from_pip) {
    if (is_known_program(name)) checks.push_back(check_system_program(c, name, why));
  }
  if (!limits.cmake.empty() && !have("cmake")) checks.push_back(check_cmake(c));
  for (const std::string& name : limits.programs) {
    if (!have(name)) checks.push_back(name == "cmake" ? check_cmake(c) : check_program(c, name, "the build calls it"));
  }
  if (c.recipe.source.kind == recipe::Source::Kind::git && !have("git"))
    checks.push_back(check_program(c, "git", "the source is a git repository"));
  if (!program && !c.facts.offline && !have("curl"))
    checks.push_back(check_program(c, "curl", "sources and wheels are downloaded by it"));
  const bool patched = !c.recipe.source.patches.empty();
  if (patched && !have("git") && find(c.facts.programs, "git") == nullptr)
    checks.push_back(check_program(c, "patch", "its patches are applied by git or by patch"));
  return checks;
}

}  // namespace wheelsmith::doctor
