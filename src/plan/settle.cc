// The recipe of one step. Its rules may depend on conditions (the version, the torch, the toolkit) that the rules
// themselves choose, and on facts of the source; so they are resolved, applied, and resolved again.

#include <fmt/format.h>

#include "choose/recipe.h"
#include "plan/planner.h"

namespace wheelsmith::plan {

// Conditions that are known before the architectures are chosen: the source, and the toolkit of torch or the machine.
// The recipe's list and the accepted architectures may depend on them.
recipe::Conditions Planner::conditions_without_archs(const recipe::Recipe& recipe, recipe::Variant variant,
                                                     const std::string& target, const toolchain::Python& python) {
  recipe::Conditions conditions = choose::first_conditions(m_request, recipe, python, {}, m_tools.compiler());
  const PinnedSource& source = m_sources.source(recipe, variant, target, python);
  conditions.ref = source.pin.git_ref;
  conditions.version = source.pin.version;
  if (variant == recipe::Variant::rocm) {
    if (const auto rocm = toolchain::find_rocm(m_inputs.host)) conditions.rocm = rocm->version;
    return conditions;
  }
  const choose::TorchChoice torch =
      m_sources.torch(recipe, recipe.rules(variant, target), variant, target, python).what;
  const std::string cuda = m_locks.torch_build(torch, python).cuda;
  if (!cuda.empty())
    conditions.cuda = cuda;
  else if (m_tools.cuda())
    conditions.cuda = m_tools.cuda()->version;
  return conditions;
}

recipe::Conditions Planner::conditions(const Draft& draft, const recipe::Recipe& recipe) {
  const BuildSpec& spec = draft.step.spec;
  recipe::Conditions now = choose::first_conditions(m_request, recipe, spec.python, spec.archs, m_tools.compiler());
  now.ref = spec.source.git_ref;
  now.version = spec.version;
  const auto known = [](const std::string& text) {
    return text.empty() ? std::optional<std::string>() : std::optional(text);
  };
  now.torch = known(spec.environment.torch_build.version);
  now.cuda = known(spec.tools.cuda.version);
  now.rocm = known(spec.tools.rocm.version);
  for (const Edge& need : draft.step.needs) {
    const Step& other = step(need.step);
    if (!other.is_skipped()) now.needs.push_back(other.spec.package);
  }
  now.needs.insert(now.needs.end(), draft.published.begin(), draft.published.end());
  return now;
}

// The rules may depend on choices that they influence (the torch, the toolkit), so they are resolved again.
std::optional<recipe::Recipe> Planner::settle(Draft& draft, const recipe::Recipe& given, const PinnedSource& source) {
  const recipe::Variant variant = draft.step.spec.variant;
  const std::string target = draft.step.spec.target;
  const bool compiles = source.pin.kind != source::Pin::Kind::program;
  if (!given.depends_on_conditions(variant, target) && given.rules(variant, target).reads.empty()) {
    if (compiles) choose_dependencies(draft, given, given.rules(variant, target), source);
    return std::nullopt;
  }
  std::vector<std::string> reasons;
  const auto resolve = [&] {
    reasons.clear();
    const recipe::Recipe resolved = given.resolved_for(variant, target, conditions(draft, given), reasons);
    return resolved.with_reads(variant, target, m_sources.reader(source.pin, source.subfolder), reasons);
  };
  recipe::Recipe settled = resolve();
  if (compiles) {
    const Draft before = draft;
    choose_dependencies(draft, given, settled.rules(variant, target), source);
    recipe::Recipe later = resolve();
    if (later.document != settled.document) {
      settled = std::move(later);
      draft = before;
      choose_dependencies(draft, given, settled.rules(variant, target), source);
    }
  }
  for (const std::string& reason : reasons) m_notes.add(fmt::format("{}: {}", given.name, reason));
  return settled;
}

}  // namespace wheelsmith::plan
