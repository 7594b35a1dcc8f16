// Programs that a recipe requires. cmake is special: pip's cmake often shadows the system's in PATH, so that users
// get 4.1 although apt installed 3.25.

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "doctor/case.h"

namespace wheelsmith::doctor {

namespace {

// The Debian and Ubuntu packages of programs, if they have other names.
constexpr std::pair<std::string_view, std::string_view> k_packages[] = {
    {"ninja", "ninja-build"},
    {"libpng-config", "libpng-dev"},
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

// It is installed into the build environment, so the machine's does not matter.
std::optional<Check> from_requirements(const Case& c, std::string_view name) {
  const std::optional<std::string> requirement = requirement_for(c.rules.requires_, name);
  if (!requirement) return std::nullopt;
  return Check{.id = std::string(name),
               .found = *requirement + " is installed into the build environment",
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
  check.why = fits ? c.recipe.name + " supports only these versions of cmake" : "its version is unknown";
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

// A program that must not be pip's, regardless of PATH.
Check check_system_program(const Case& c, const std::string& name, const std::string& why) {
  const std::string& specifiers = c.rules.requires_versions.cmake;
  const bool limited = name == "cmake" && !specifiers.empty();
  Check check{.id = name,
              .wanted = fmt::format("{}{} from the operating system", name, limited ? " " + specifiers : "")};
  const toolchain::Program* first = find(c.facts.programs, name);
  const toolchain::Program* behind = find(c.facts.shadowed, name);
  const bool shadowed = first != nullptr && first->origin == toolchain::Origin::pip;
  const toolchain::Program* taken = shadowed ? behind : first;  // the one that a plan uses
  check.found = taken == nullptr ? (shadowed ? described_program(*first) : "none") : described_program(*taken);
  if (taken != nullptr && shadowed) check.found += ", and not " + described_program(*first);
  const bool fits = taken != nullptr && (!limited || satisfies(taken->version, specifiers).value_or(true));
  if (fits) return check;
  check.state = State::bad;
  check.why = taken == nullptr ? why : c.recipe.name + " supports only these versions of it";
  check.fix = taken == nullptr ? install_program(name)
                               : fmt::format("install {} {} (not with pip) and put it first in PATH", name, specifiers);
  return check;
}

}  // namespace

std::string install_program(std::string_view name) {
  if (name == "uv") return "pip install uv";
  for (const auto& [program, package] : k_packages) {
    if (program == name) return fmt::format("apt-get install {}", package);
  }
  return fmt::format("install {} and add it to PATH", name);
}

std::vector<Check> check_programs(const Case& c) {
  std::vector<Check> checks;
  const auto have = [&](std::string_view name) {
    return std::any_of(checks.begin(), checks.end(), [&](const Check& check) { return check.id == name; });
  };
  const recipe::Requires& limits = c.rules.requires_versions;
  const bool program = c.rules.backend == recipe::Rules::Backend::program;
  // pip's program is rejected even if its version fits.
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
    checks.push_back(check_program(c, "curl", "it downloads sources and wheels"));
  const bool patched = !c.recipe.source.patches.empty();
  if (patched && !have("git") && find(c.facts.programs, "git") == nullptr)
    checks.push_back(check_program(c, "patch", "git or patch applies its patches"));
  return checks;
}

}  // namespace wheelsmith::doctor
