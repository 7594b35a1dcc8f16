#include "choose/source.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/text.h"
#include "pep/version.h"
#include "pep/wheel_name.h"

namespace wheelsmith::choose {

bool is_only_package(const Request& request, const std::string& package) {
  return request.packages.empty() ||
         (request.packages.size() == 1 && pep::same_name(request.packages.front(), package));
}

std::optional<source::Override> source_override(const Request& request, const std::string& package,
                                                const std::string& project) {
  const bool only = is_only_package(request, package);
  for (const source::Override& user : request.sources) {
    const bool of_project = !user.project.empty() && pep::same_name(user.project, project);
    if (user.name.empty() ? only || of_project : pep::same_name(user.name, package)) return user;
  }
  return std::nullopt;
}

namespace {

std::optional<std::string> value_for(const std::vector<std::pair<std::string, std::string>>& values,
                                     const Request& request, const std::string& package) {
  for (const auto& [name, value] : values) {
    if (name.empty() ? is_only_package(request, package) : pep::same_name(name, package)) return value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> user_ref(const Request& request, const std::string& package) {
  return value_for(request.refs, request, package);
}

std::optional<std::string> user_patchset(const Request& request, const std::string& package) {
  return value_for(request.patchsets, request, package);
}

std::string ref_of(const recipe::Recipe& recipe, const Request& request) {
  if (const auto wanted = user_ref(request, recipe.name)) return *wanted;
  return recipe::expand(recipe.source.ref, {{"version", recipe.source.version}});
}

SourceChoice choose_source(const SourceQuestion& question) {
  const recipe::Source& source = question.recipe.source;
  SourceChoice choice;
  choice.url = question.origin;
  choice.ref = question.ref;
  choice.by = SourceChoice::By::user;
  if (choice.ref.empty() && !question.torch_named) {
    if (const auto record = question.record()) {
      choice.by = SourceChoice::By::record;
      choice.ref = record->ref;
      choice.record = record->where;
      if (choice.url.empty()) choice.url = record->url;
    }
  }
  if (choice.ref.empty() && !recipe::torch_pairs(source, question.variant).empty()) {
    choice.series = question.torch_series();
    if (!choice.series.empty()) {
      choice.by = SourceChoice::By::torch;
      choice.ref = recipe::ref_for_torch(question.recipe, question.variant, choice.series);
    }
  }
  if (choice.ref.empty()) {
    choice.by = SourceChoice::By::recipe;
    choice.ref = recipe::expand(source.ref, {{"version", source.version}});
  }
  const std::string_view variant = question.variant ? recipe::to_string(*question.variant) : std::string_view();
  if (const recipe::Source::Family* family = source.family(choice.ref, variant)) {
    if (choice.url.empty()) choice.url = family->git;
    choice.family_patchset = family->patchset;
    choice.family_why = family->why;
  }
  if (choice.url.empty()) choice.url = source.url;
  return choice;
}

std::string reason_of(const SourceChoice& choice) {
  switch (choice.by) {
    case SourceChoice::By::user: return "--ref";
    case SourceChoice::By::record: return choice.record;
    case SourceChoice::By::torch: return fmt::format("recipe, for torch {}", choice.series);
    case SourceChoice::By::recipe: break;
  }
  return "recipe";
}

std::vector<std::string> notes_of(const SourceChoice& choice, const recipe::Recipe& recipe,
                                  const std::string& recorded_by) {
  std::vector<std::string> notes;
  if (choice.by == SourceChoice::By::record)
    notes.push_back(fmt::format("{}: {}, pinned by {} of {}", recipe.name, choice.ref, choice.record, recorded_by));
  if (choice.by == SourceChoice::By::torch)
    notes.push_back(fmt::format("{}: {}, which matches torch {}", recipe.name, choice.ref, choice.series));
  if (!choice.family_why.empty()) notes.push_back(fmt::format("{}: {}", recipe.name, choice.family_why));
  return notes;
}

std::string choose_patchset(const SourceChoice& choice, const std::string& asked_for,
                            const std::vector<std::string>& available) {
  if (!asked_for.empty()) return asked_for;
  for (const std::string& name : {choice.family_patchset, choice.ref}) {
    if (!name.empty() && std::find(available.begin(), available.end(), name) != available.end()) return name;
  }
  return "";
}

recipe::Checkout choose_parts(const recipe::Recipe& recipe, const recipe::Rules& rules) {
  recipe::Checkout parts = rules.checkout;
  if (!parts.submodules) parts.submodules = recipe.source.submodules;
  return parts;
}

namespace {

recipe::Checkout parts_of_target(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                                 const std::string& ref) {
  if (!recipe.depends_on_conditions(variant, target)) return choose_parts(recipe, recipe.rules(variant, target));
  recipe::Conditions conditions;
  conditions.ref = ref;
  std::vector<std::string> reasons;
  const recipe::Recipe resolved = recipe.resolved_for(variant, target, conditions, reasons);
  return choose_parts(recipe, resolved.rules(variant, target));
}

void sort_once(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace

recipe::Checkout choose_parts(const recipe::Recipe& recipe, const std::optional<recipe::Variant>& variant,
                              const std::string& target, const std::string& ref) {
  recipe::Checkout all;
  all.submodules.emplace();
  const bool one_variant = variant || recipe.variants().size() == 1;
  const auto add = [&](const recipe::Checkout& parts) {
    if (!parts.submodules) all.submodules.reset();
    if (all.submodules && parts.submodules)
      all.submodules->insert(all.submodules->end(), parts.submodules->begin(), parts.submodules->end());
    if (parts.hipify.empty() || !one_variant) return;
    all.hipify = parts.hipify;
    all.commit_hipify = parts.commit_hipify;
  };
  for (const recipe::Variant one : recipe.variants()) {
    if (variant && *variant != one) continue;
    const std::vector<std::string> targets = target.empty() ? recipe.targets(one) : std::vector<std::string>{target};
    for (const std::string& of_target : targets) add(parts_of_target(recipe, one, of_target, ref));
  }
  if (all.submodules) sort_once(*all.submodules);
  return all;
}

std::string source_version(const recipe::Recipe& recipe, const std::string& ref,
                           const std::optional<std::string>& version_file) {
  if (version_file) {
    std::string word;
    // In a Python module, or alone on a line ("2.13.0a0").
    if (RE2::PartialMatch(*version_file, R"((?m)^__version__\s*=\s*["']([^"']+)["'])", &word))
      return pep::Version::try_parse(word) ? word : "";
    for (const std::string_view line : lines(*version_file)) {
      word = trim(line);
      if (pep::Version::try_parse(word)) return word;
    }
  }
  std::string_view version = ref;
  const std::string& prefix = recipe.source.tag_prefix;
  if (!prefix.empty() && version.starts_with(prefix)) version.remove_prefix(prefix.size());
  if (version.starts_with('v')) version.remove_prefix(1);
  return pep::Version::try_parse(std::string(version)) ? std::string(version) : "";
}

}  // namespace wheelsmith::choose
