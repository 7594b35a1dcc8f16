// Values in the source are more reliable than copies in a recipe: the list of architectures in a CMake file is correct
// for every commit, the one in a recipe only for the versions it was verified with. The recipe says where to look; the
// value found replaces its own, which remains for sources that cannot be read.

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/text.h"
#include "pep/version.h"
#include "recipe/recipe.h"

namespace wheelsmith::recipe {
namespace {

constexpr std::size_t k_most_values = 200;

RE2::Options quiet_options() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

std::string group_in(const std::string& text, const std::string& pattern) {
  std::string found;
  const RE2 expression(pattern, quiet_options());
  return expression.ok() && RE2::PartialMatch(text, expression, &found) ? found : "";
}

// "gfx942;gfx950", "[\"gfx942\", 'gfx950']", "8.0;9.0": each name once, in order.
std::vector<std::string> arch_names(const std::string& text) {
  static const RE2 name(R"((gfx[0-9a-f]+|[0-9]+\.[0-9][af]?))");
  std::vector<std::string> names;
  std::string one;
  re2::StringPiece rest(text);
  while (names.size() < k_most_values && RE2::FindAndConsume(&rest, name, &one)) {
    if (std::find(names.begin(), names.end(), one) == names.end()) names.push_back(one);
  }
  return names;
}

// "2.13" of "2.13.0".
std::string series_in(const std::string& text) {
  const auto parts = split(text, '.');
  return parts.size() < 2 ? "" : fmt::format("{}.{}", parts[0], parts[1]);
}

std::string minimum(const std::string& text) { return pep::Version::try_parse(text) ? ">=" + text : ""; }

// A limit of a recipe may say more than the source does: ">=3.26,<4".
bool says_more(const std::string& recipe, const std::string& source) { return recipe.starts_with(source + ","); }

// The value of the rules that one reading replaces, as a text to compare and to show.
struct Reading {
  std::string_view name;
  std::string before, now;
};

Reading take(const ReadRule& rule, const std::string& found, Rules& rules) {
  Requires& limits = rules.requires_versions;
  const auto replace = [&](std::string_view name, std::string& value, const std::string& now) {
    Reading reading{name, value, now};
    if (!now.empty() && !says_more(value, now)) value = now;
    return reading;
  };
  switch (rule.what) {
    case ReadRule::What::archs: {
      const std::vector<std::string> names = arch_names(found);
      Reading reading{"architectures", join(rules.archs.legal, ";"), join(names, ";")};
      if (!names.empty()) rules.archs.legal = names;
      return reading;
    }
    case ReadRule::What::torch: return replace("torch", limits.torch_series, series_in(found));
    case ReadRule::What::gcc: return replace("GCC", limits.gcc, minimum(found));
    case ReadRule::What::cmake: return replace("CMake", limits.cmake, minimum(found));
    case ReadRule::What::cxx_standard: {
      Reading reading{"C++ standard", limits.cxx_standard == 0 ? "" : std::to_string(limits.cxx_standard), found};
      const auto year = to_number(found);
      if (year && *year >= 11 && *year <= 26) limits.cxx_standard = static_cast<int>(*year);
      return reading;
    }
  }
  return {};
}

// The order of a list does not matter.
bool says_the_same(const Reading& reading) {
  const auto sorted = [](const std::string& text) {
    auto parts = split(text, ';');
    std::sort(parts.begin(), parts.end());
    return std::vector<std::string>(parts.begin(), parts.end());
  };
  return reading.before.empty() || sorted(reading.before) == sorted(reading.now) ||
         says_more(reading.before, reading.now);
}

}  // namespace

void apply_reads(Rules& rules, const std::function<std::optional<std::string>(const std::string&)>& text_of,
                 std::vector<std::string>& notes) {
  std::vector<ReadRule::What> done;
  const auto is_done = [&](ReadRule::What what) { return std::find(done.begin(), done.end(), what) != done.end(); };
  std::vector<const ReadRule*> failed;
  const std::vector<ReadRule> reads = rules.reads;
  for (const ReadRule& rule : reads) {
    if (is_done(rule.what)) continue;
    const auto text = text_of(rule.file);
    const std::string found = text ? group_in(*text, rule.pattern) : "";
    if (found.empty()) {
      failed.push_back(&rule);
      continue;
    }
    const Reading reading = take(rule, found, rules);
    if (reading.now.empty()) {
      failed.push_back(&rule);
      continue;
    }
    if (!says_the_same(reading))
      notes.push_back(
          fmt::format("{} {} from {}; the recipe has {}", reading.name, reading.now, rule.file, reading.before));
    done.push_back(rule.what);
  }
  for (const ReadRule* rule : failed) {
    if (is_done(rule->what)) continue;
    done.push_back(rule->what);
    notes.push_back(
        fmt::format("{} does not contain the value that the recipe reads from it; using the recipe's own value, "
                    "which may not match this version",
                    rule->file));
  }
}

std::vector<std::string> known_to_sdk(const Preload& preload, std::string_view names_text,
                                      std::vector<std::string>& notes) {
  const RE2 expression(preload.names_pattern, quiet_options());
  std::vector<std::string> names;
  std::string one;
  re2::StringPiece rest(names_text.data(), names_text.size());
  while (expression.ok() && names.size() < k_most_values && RE2::FindAndConsume(&rest, expression, &one))
    names.push_back(one);
  if (names.empty()) {
    notes.push_back(fmt::format("{} lists no library; using the recipe's list", preload.names_file));
    return preload.libraries;
  }
  std::vector<std::string> kept, unknown;
  for (const std::string& name : preload.libraries)
    (std::find(names.begin(), names.end(), name) != names.end() ? kept : unknown).push_back(name);
  if (!unknown.empty())
    notes.push_back(fmt::format("unknown to the ROCm SDK and not preloaded: {}", join(unknown, ", ")));
  return kept;
}

std::string edit_problem(const Edit& edit, const std::optional<std::string>& text) {
  if (!text) return fmt::format("{} does not exist in this source, but the recipe edits it: {}", edit.file, edit.why);
  const bool made = !edit.to.empty() && text->find(edit.to) != std::string::npos;
  if (text->find(edit.from) != std::string::npos || made) return "";
  return fmt::format("{} does not contain \"{}\", which the recipe replaces: {}", edit.file, edit.from, edit.why);
}

}  // namespace wheelsmith::recipe
