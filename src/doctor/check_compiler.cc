// The host compiler: whether there is one, whether it supports the package's C++ standard, and whether the package and
// nvcc support it. nvcc rejects a host compiler that is too new, but only when it compiles the first file.

#include <fmt/format.h>

#include <functional>

#include "base/text.h"
#include "doctor/case.h"

namespace wheelsmith::doctor {

namespace {

// The versions of Debian 12 first, then those of Ubuntu 22.04 and 24.04.
constexpr int k_gccs[] = {12, 11, 13, 14, 10, 9};
constexpr int k_clangs[] = {16, 15, 14, 19, 18, 17, 13};

std::string another_compiler(bool clang, const std::function<bool(int)>& fits) {
  for (const int major : clang ? std::vector<int>(std::begin(k_clangs), std::end(k_clangs))
                               : std::vector<int>(std::begin(k_gccs), std::end(k_gccs))) {
    if (!fits(major)) continue;
    if (clang) return fmt::format("apt-get install clang-{0}, then --cc clang-{0} --cxx clang++-{0}", major);
    return fmt::format("apt-get install gcc-{0} g++-{0}, then --cc gcc-{0} --cxx g++-{0}", major);
  }
  return "install a supported compiler and give it with --cc and --cxx";
}

// The first major version that supports all parts of a standard that packages use.
int first_major(bool clang, int standard) {
  if (standard <= 14) return 5;
  if (standard <= 17) return 8;
  if (standard <= 20) return clang ? 14 : 11;
  if (standard <= 23) return clang ? 17 : 13;
  return clang ? 19 : 14;
}

std::string described_compiler(const toolchain::Compiler& compiler) {
  return fmt::format("{} {} ({})", compiler.family, compiler.version, compiler.cxx.string());
}

}  // namespace

std::optional<Check> check_compiler(const Case& c) {
  Check check{.id = "compiler", .wanted = "a C++ compiler and its C++ library"};
  check.why = "the package is compiled on this machine";
  if (!c.facts.compiler) {
    check.state = State::bad;
    check.found = c.facts.compiler_problem.empty() ? "none" : c.facts.compiler_problem;
    check.fix = c.facts.compiler_problem.empty() ? "apt-get install build-essential"
                                                 : "correct --cc and --cxx (CC, CXX), or omit them";
    return check;
  }
  check.found = described_compiler(*c.facts.compiler);
  if (c.facts.compiler->cxx.empty() || c.facts.compiler->standard_library.empty()) {
    check.state = State::bad;
    check.found += c.facts.compiler->cxx.empty() ? ", for C only" : ", without a C++ library";
    check.fix = c.facts.compiler->family == "clang" ? "apt-get install libstdc++-12-dev" : "apt-get install g++";
    return check;
  }
  check.why.clear();
  return check;
}

// A private static copy of libstdc++ is harmless until an exception, or an object that each copy has separately,
// crosses to another C++ library. With torch, that happens as soon as torch throws.
std::optional<Check> check_compiler_runtime(const Case& c) {
  if (!c.facts.compiler || c.facts.compiler->runtime.empty()) return std::nullopt;
  const toolchain::Compiler& compiler = *c.facts.compiler;
  const std::string& library = compiler.standard_library;
  Check check{.id = "compiler-runtime",
              .found = fmt::format("{} links {} as a {} library", compiler.cxx.string(), library, compiler.runtime),
              .wanted = fmt::format("a compiler that links the shared {}", library)};
  if (compiler.runtime != "static") return check;
  const bool uses_torch = c.rules.requires_versions.uses_torch;
  check.state = uses_torch ? State::bad : State::unknown;
  check.why =
      uses_torch ? "an exception thrown by torch crashes the process (SIGSEGV) when it reaches the extension's own copy"
                 : "it matters only if the package passes exceptions or C++ objects to other C++ libraries";
  check.fix = compiler.other_cxx.empty() ? "apt-get install g++, then --cxx /usr/bin/g++"
                                         : "--cxx " + compiler.other_cxx.string();
  return check;
}

std::optional<Check> check_cxx_standard(const Case& c) {
  const int standard = c.rules.requires_versions.cxx_standard;
  if (standard == 0 || !c.facts.compiler) return std::nullopt;
  const toolchain::Compiler& compiler = *c.facts.compiler;
  Check check{.id = "cxx-standard",
              .found = fmt::format("C++{} by {}", compiler.newest_standard, described_compiler(compiler)),
              .wanted = fmt::format("C++{}", standard)};
  if (compiler.newest_standard >= standard) return check;
  const bool clang = compiler.family == "clang";
  check.why = "the package is written in this standard";
  if (compiler.newest_standard == 0) {
    check.state = State::unknown;
    check.found = "unknown for " + described_compiler(compiler);
    return check;
  }
  check.state = State::bad;
  check.fix = another_compiler(clang, [&](int major) { return major >= first_major(clang, standard); });
  return check;
}

std::optional<Check> check_compiler_version(const Case& c) {
  if (!c.facts.compiler) return std::nullopt;
  const toolchain::Compiler& compiler = *c.facts.compiler;
  const bool clang = compiler.family == "clang";
  const std::string& specifiers = clang ? c.rules.requires_versions.clang : c.rules.requires_versions.gcc;
  if (specifiers.empty()) return std::nullopt;
  Check check{.id = "compiler-version",
              .found = described_compiler(compiler),
              .wanted = fmt::format("{} {}", clang ? "Clang" : "GCC", specifiers)};
  const std::optional<bool> fits = satisfies(compiler.version, specifiers);
  if (fits.value_or(false)) return check;
  check.state = fits ? State::bad : State::unknown;
  check.why = c.recipe.name + "  is verified with these versions only";
  if (fits) {
    check.fix = another_compiler(
        clang, [&](int major) { return satisfies(std::to_string(major) + ".1", specifiers).value_or(false); });
  }
  return check;
}

std::optional<Check> check_host_compiler(const Case& c) {
  if (c.toolkit.from == Toolkit::From::none || !c.facts.compiler) return std::nullopt;
  const toolchain::Compiler& compiler = *c.facts.compiler;
  const toolchain::Cuda& cuda = c.toolkit.cuda;
  const bool clang = compiler.family == "clang";
  const int limit = clang ? cuda.max_clang : cuda.max_gcc;
  Check check{.id = "host-compiler", .found = described_compiler(compiler)};
  if (cuda.version.empty() || limit == 0) {
    check.state = State::unknown;
    check.wanted = "a host compiler that nvcc supports";
    check.why = cuda.version.empty() ? "the nvcc version depends on torch"
                                     : fmt::format("the limits of nvcc {} are unknown", cuda.version);
    return check;
  }
  check.wanted = fmt::format("{} up to {}, for nvcc {}", clang ? "Clang" : "GCC", limit, cuda.version);
  const std::string problem = toolchain::host_compiler_problem(cuda, compiler);
  if (problem.empty()) return check;
  check.why = problem;
  // Another C++ library is different: no flag makes nvcc support it.
  const bool too_new = compiler.standard_library != "libc++";
  if (too_new && c.facts.allow_unsupported_compiler) {
    check.state = State::unknown;
    check.why += "; --allow-unsupported-compiler lets nvcc try it";
    return check;
  }
  check.state = State::bad;
  const int standard = c.rules.requires_versions.cxx_standard;
  check.fix =
      compiler.standard_library == "libc++"
          ? "apt-get install g++, then --cc gcc --cxx g++"
          : another_compiler(clang, [&](int major) { return major <= limit && major >= first_major(clang, standard); });
  if (too_new) check.fix += "; or --allow-unsupported-compiler, which NVIDIA does not support";
  return check;
}

}  // namespace wheelsmith::doctor
