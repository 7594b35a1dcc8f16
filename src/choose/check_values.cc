#include "choose/check_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/request_error.h"
#include "base/text.h"
#include "choose/torch.h"
#include "pep/requirement.h"
#include "toolchain/wanted_python.h"
#include "wheel/check/claimed_platform.h"

namespace wheelsmith::choose {

namespace {

// A glibc or musl version far beyond the released ones is a typo. `check` still accepts any tag.
constexpr std::uint64_t k_newest_minor = 50;

bool is_known_platform(const std::string& platform) {
  // `plan` also shows the recipe's settings for other platforms.
  if (platform.empty() || platform.starts_with("win") || platform.starts_with("macosx")) return true;
  const auto policy = wheel::policy_named(platform, {});
  if (!policy) return false;
  const auto words = split(policy->name, '_');
  return words.size() != 3 || to_number(words[2]).value_or(0) <= k_newest_minor;
}

void check_platform(const std::string& platform) {
  if (is_known_platform(platform)) return;
  std::vector<std::string> names;
  for (const pep::Policy& policy : pep::builtin_policies(pep::LibC::glibc)) {
    names.push_back(policy.name);
    names.insert(names.end(), policy.aliases.begin(), policy.aliases.end());
  }
  const auto near = nearest(platform, names);
  throw RequestError(
      fmt::format("--platform {}: must be a platform tag such as manylinux_2_28, musllinux_1_2 or linux{}",
                  printable(platform), near ? "; did you mean " + *near + "?" : ""));
}

void check_python(const std::string& text) {
  if (text.find('/') != std::string::npos) return;
  try {
    (void)toolchain::WantedPython::parse(text);
  } catch (const Error&) {
    throw RequestError(fmt::format(
        "--python {}: must be a version (3.12, 3.12.1, 3.13t), a tag (cp312, cp313t) or a path", printable(text)));
  }
}

void check_variable(const std::string& name) {
  const auto is_part = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const bool digit_first = std::isdigit(static_cast<unsigned char>(name.front())) != 0;
  if (digit_first || !std::all_of(name.begin(), name.end(), is_part))
    throw RequestError(fmt::format(
        "--env {}: the name of a variable must consist of letters, digits and _, and not begin with a digit",
        printable(name)));
}

void check_name(const std::string& option, const std::string& name) {
  if (!pep::is_valid_name(name))
    throw RequestError(fmt::format("--{} {}: must be a package name", option, printable(name)));
}

}  // namespace

void check_values(const Request& request, bool elsewhere) {
  check_platform(request.platform);
  if (!elsewhere) {
    for (const std::string& text : request.pythons) check_python(text);
    check_torch_form(request.torch);
  }
  for (const auto& [name, value] : request.environment) check_variable(name);
  for (const std::string& name : request.without) check_name("without", name);
}

}  // namespace wheelsmith::choose
