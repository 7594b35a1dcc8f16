// Compares the rules of a step with its pinned source.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/requirement.h"
#include "pep/version.h"
#include "plan/planner.h"

namespace wheelsmith::plan {

namespace {

// Whether the source's metadata excludes a Python; unreadable metadata excludes none.
bool excludes_python(const std::string& specifiers, const std::string& version) {
  try {
    return !specifiers.empty() && !pep::contains(pep::parse_specifiers(specifiers), pep::Version::parse(version));
  } catch (const Error&) {  // the build backend will report the error
    return false;
  }
}

// The folders in .gitmodules.
std::vector<std::string> submodule_folders(const std::string& gitmodules) {
  std::vector<std::string> folders;
  for (const std::string_view line : lines(gitmodules)) {
    const std::size_t equals = line.find('=');
    if (equals != line.npos && trim(line.substr(0, equals)) == "path")
      folders.emplace_back(trim(line.substr(equals + 1)));
  }
  return folders;
}

}  // namespace

// Fails during planning if a rule does not fit the source, instead of an hour into the build.
void Planner::compare_with_source(const Draft& draft, const recipe::Recipe& recipe, const recipe::Rules& rules,
                                  const PinnedSource& source) {
  const BuildSpec& spec = draft.step.spec;
  if (spec.source.kind == source::Pin::Kind::program) return;
  if (const std::string unchecked = recipe::unchecked_reason(recipe, spec.version); !unchecked.empty())
    m_notes.add("warning: " + unchecked);
  const std::string& pythons = source.facts.requires_python;
  if (excludes_python(pythons, spec.python.version))
    throw Error(fmt::format("{} {} requires Python {} (according to its metadata), but {} is {}", recipe.name,
                            spec.version, printable(pythons), spec.python.executable.string(), spec.python.version));
  const std::string series = choose::torch_series(spec.environment.torch_build.version);
  const std::string& wanted = rules.requires_versions.torch_series;
  if (!wanted.empty() && !series.empty() && series != wanted)
    m_notes.add(
        fmt::format("warning: {}: its source is made for torch {}, but it is built against torch {}; it may not "
                    "compile or load",
                    recipe.name, wanted, series));
  if (wanted.empty() && !series.empty() && !recipe::is_paired(recipe, spec.variant, spec.source.git_tag, series))
    m_notes.add(fmt::format("warning: {}: {} is made for torch {}, but it is built against torch {}; it may not load",
                            recipe.name, spec.source.git_tag,
                            recipe::torch_for_ref(recipe, spec.variant, spec.source.git_tag), series));
  const auto text_of = m_sources.reader(spec.source, spec.subfolder);
  // A patch may add the text that an edit replaces; the edit itself reports an error during the build.
  const bool patched = !recipe.source.patches.empty() || !source.patchset.empty();
  for (const recipe::Edit& edit : rules.edits) {
    const std::string problem = recipe::edit_problem(edit, text_of(edit.file));
    if (problem.empty() || patched || spec.editable || m_inputs.host.described) continue;
    if (edit.required) throw Error(fmt::format("{} {}: {}", recipe.name, spec.version, problem));
    m_notes.add(fmt::format("warning: {} {}: {}", recipe.name, spec.version, problem));
  }
  if (spec.source.kind != source::Pin::Kind::git || !rules.checkout.submodules || m_inputs.host.described) return;
  const std::vector<std::string> there = submodule_folders(m_sources.text(spec.source, ".gitmodules").value_or(""));
  for (const std::string& folder : *rules.checkout.submodules) {
    if (std::find(there.begin(), there.end(), folder) == there.end())
      throw Error(fmt::format("{} {}: the recipe needs the submodule {}, which this version does not have; it has {}",
                              recipe.name, spec.version.empty() ? spec.source.git_ref : spec.version, folder,
                              there.empty() ? "none" : join(there, ", ")));
  }
}

}  // namespace wheelsmith::plan
