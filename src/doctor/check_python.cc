// Python: the interpreter that a wheel is built for, and the parts that a build needs. Debian splits one Python into
// three packages: python3.11 runs, python3.11-dev has Python.h, python3.11-venv has ensurepip.

#include <fmt/format.h>

#include "doctor/case.h"

namespace wheelsmith::doctor {

namespace {

constexpr int k_oldest_minor = 8, k_newest_minor = 14;

// Newest first, except for this year's release, which packages do not support yet.
std::string python_version_for(std::string_view specifiers) {
  for (int minor = k_newest_minor - 1; minor >= k_oldest_minor; --minor) {
    const std::string version = fmt::format("3.{}", minor);
    if (satisfies(version + ".99", specifiers).value_or(false)) return version;
  }
  return fmt::format("3.{}", k_newest_minor);
}

bool has_uv(const Case& c) { return c.facts.programs.contains("uv"); }

std::string another_python(const Case& c, const std::string& version) {
  return fmt::format("{}uv python install {}, then --python {}", has_uv(c) ? "" : "pip install uv && ", version,
                     version);
}

bool is_debian_python(const toolchain::Python& python) { return python.base_prefix == "/usr"; }

std::string described_python(const toolchain::Python& python) {
  return fmt::format("{} ({})", python.version, python.executable.string());
}

}  // namespace

std::optional<Check> check_python(const Case& c) {
  const std::string& specifiers = c.rules.requires_versions.python;
  Check check{.id = "python", .wanted = "Python " + (specifiers.empty() ? "3" : specifiers)};
  if (c.python.executable.empty()) {
    check.state = State::bad;
    check.found = c.facts.python_problem.empty() ? "none" : c.facts.python_problem;
    check.why = "a wheel is built with the interpreter that it is for";
    check.fix = specifiers.empty() ? "apt-get install python3 python3-dev python3-venv python3-pip"
                                   : another_python(c, python_version_for(specifiers));
    return check;
  }
  check.found = described_python(c.python);
  if (satisfies(c.python.version, specifiers).value_or(true)) return check;
  check.state = State::bad;
  check.why = fmt::format("{} supports only Python {}", c.recipe.name, specifiers);
  check.fix = another_python(c, python_version_for(specifiers));
  return check;
}

std::optional<Check> check_python_headers(const Case& c) {
  if (c.python.executable.empty()) return std::nullopt;
  Check check{.id = "python-headers",
              .found = (c.python.include / "Python.h").string(),
              .wanted = "Python.h of Python " + c.python.short_version()};
  if (c.python.has_headers) return check;
  check.state = State::bad;
  check.found = "none in " + c.python.include.string();
  check.why = "extension modules are compiled against the headers of their interpreter";
  check.fix = is_debian_python(c.python) ? fmt::format("apt-get install python{}-dev", c.python.short_version())
                                         : another_python(c, c.python.short_version());
  return check;
}

std::optional<Check> check_python_venv(const Case& c) {
  if (c.python.executable.empty()) return std::nullopt;
  Check check{.id = "python-venv", .found = "venv", .wanted = "the module venv, or uv"};
  if (c.python.has_venv) return check;
  if (has_uv(c)) {
    check.found = "uv";
    return check;
  }
  check.state = State::bad;
  check.found = "none";
  check.why = "each step is built and tested in its own environment";
  check.fix = is_debian_python(c.python) ? fmt::format("apt-get install python{}-venv", c.python.short_version())
                                         : "pip install uv";
  return check;
}

std::optional<Check> check_python_pip(const Case& c) {
  if (c.python.executable.empty()) return std::nullopt;
  Check check{.id = "python-pip", .found = "pip " + c.python.pip_version, .wanted = "pip or uv"};
  if (c.python.has_pip) return check;
  if (has_uv(c)) {
    check.found = "uv " + c.facts.programs.find("uv")->second.version;
    return check;
  }
  check.why = "pip resolves the build requirements, or uv if it is installed";
  check.found = c.python.has_ensurepip ? "none, but ensurepip can install it" : "none";
  check.state = c.python.has_ensurepip ? State::unknown : State::bad;
  check.fix = is_debian_python(c.python) ? "apt-get install python3-pip"
              : c.python.has_ensurepip   ? c.python.executable.string() + " -m ensurepip"
                                         : another_python(c, c.python.short_version());
  return check;
}

}  // namespace wheelsmith::doctor
