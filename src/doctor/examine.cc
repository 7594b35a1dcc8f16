#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "doctor/case.h"
#include "pep/wheel_name.h"

namespace wheelsmith::doctor {

namespace {

struct Entry {
  Rule rule;
  bool compiling;  // applies only if something is compiled: not for a program that is only packaged
};

constexpr Entry k_rules[] = {
    {check_python, false},
    {check_python_headers, true},
    {check_python_venv, false},
    {check_python_pip, true},
    {check_compiler, true},
    {check_compiler_runtime, true},
    {check_cxx_standard, true},
    {check_compiler_version, true},
    {check_torch, true},
    {check_torch_variant, true},
    {check_cuda, true},
    {check_cuda_version, true},
    {check_cuda_torch, true},
    {check_host_compiler, true},
    {check_rocm, true},
    {check_rocm_version, true},
    {check_rocm_device_libraries, true},
    {check_rocm_cmake, true},
    {check_rocm_family, true},
    {check_rocm_torch, true},
    {check_archs, true},
    {check_refusals, true},
    {check_cuda_archs, true},
    {check_gpu, true},
    {check_memory, true},
    {check_platform_glibc, true},
    {check_platform_libstdcxx, true},
    {check_isolation, true},
    {check_sandbox, true},
};

void append(std::vector<Check>& checks, std::vector<Check> more) {
  checks.insert(checks.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<Check> all_checks(const Case& c) {
  const bool compiling = c.rules.backend != recipe::Rules::Backend::program;
  std::vector<Check> checks;
  for (const Entry& entry : k_rules) {
    if (entry.compiling && !compiling) continue;
    if (std::optional<Check> check = entry.rule(c)) checks.push_back(std::move(*check));
  }
  append(checks, check_libraries(c));
  append(checks, check_programs(c));
  append(checks, check_places(c));
  return checks;
}

}  // namespace

std::string_view to_string(State state) {
  constexpr std::array<std::string_view, 3> k_words = {"good", "bad", "unknown"};
  return k_words[static_cast<std::size_t>(state)];
}

bool any_bad(const std::vector<Check>& checks) {
  return std::any_of(checks.begin(), checks.end(), [](const Check& check) { return check.state == State::bad; });
}

std::vector<Check> examine(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                           const gpu::ArchList& archs, const toolchain::Python& python, const Facts& facts) {
  std::vector<Check> checks;
  try {
    const recipe::Rules& rules = recipe.rules(variant, target);
    checks = all_checks({recipe, rules, variant, archs, python, facts, choose_toolkit(rules, variant, facts)});
  } catch (const Error& error) {
    checks.push_back({.id = "variant",
                      .state = State::bad,
                      .found = std::string(recipe::to_string(variant)) + (target.empty() ? "" : " " + target),
                      .wanted = "a variant and a target that the recipe has",
                      .why = error.what(),
                      .fix = "choose with --variant and --target"});
  }
  for (Check& check : checks) check.package = recipe.name;
  return checks;
}

std::optional<bool> satisfies(std::string_view version, std::string_view specifiers) {
  const std::optional<pep::Version> parsed = pep::Version::try_parse(version);
  if (!parsed) return std::nullopt;
  try {
    return pep::contains(pep::parse_specifiers(specifiers), *parsed);
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool is_older(std::string_view version, std::string_view than) {
  const std::optional<pep::Version> a = pep::Version::try_parse(version), b = pep::Version::try_parse(than);
  return a && b && *a < *b;
}

std::string major_minor(std::string_view version) {
  const std::size_t first = version.find('.');
  return std::string(version.substr(0, first == std::string_view::npos ? first : version.find('.', first + 1)));
}

int major_number(std::string_view version) {
  return static_cast<int>(std::min<std::uint64_t>(to_number(split(version, '.')[0]).value_or(0), 1'000'000));
}

std::optional<std::string> requirement_for(const std::vector<std::string>& requirements, std::string_view name) {
  for (const std::string& text : requirements) {
    try {
      if (pep::normalized_name(pep::Requirement::parse(text).name) == pep::normalized_name(name)) return text;
    } catch (const Error&) {
      continue;  // the recipe parser has already rejected it
    }
  }
  return std::nullopt;
}

}  // namespace wheelsmith::doctor
