// What a step's [[when]] tables are asked about, what it is refused for, and what it needs from other recipes.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "plan/choose.h"
#include "plan/planner.h"

namespace wheelsmith::plan {

std::map<std::string, std::string> chosen_settings(const recipe::Recipe& recipe, const Request& request) {
  std::map<std::string, std::string> chosen;
  for (const recipe::Setting& setting : recipe.settings) {
    const auto wanted = request.set.find(setting.name);
    chosen[setting.name] = wanted == request.set.end() ? setting.fallback : wanted->second;
  }
  return chosen;
}

recipe::Conditions Planner::conditions(const Step& step, const recipe::Recipe& recipe) const {
  recipe::Conditions now;
  now.ref = step.source.git_ref;
  now.version = step.version;
  now.python = step.python.version;
  now.platform = step.platform.empty() ? step.python.platform : step.platform;
  now.build_type = step.build_type;
  if (m_compiler) {
    now.compiler_family = m_compiler->family;
    now.compiler_version = m_compiler->version;
  }
  for (const gpu::ArchRequest& request : step.archs.requests) now.archs.push_back(gpu::to_string(request));
  now.settings = chosen_settings(recipe, m_request);
  const auto known = [](const std::string& text) {
    return text.empty() ? std::optional<std::string>() : std::optional(text);
  };
  now.torch = known(step.torch_version);
  now.cuda = known(step.cuda_version);
  now.rocm = known(step.rocm_version);
  for (const std::string& id : step.needs) {
    const Step& other = m_plan.steps[m_steps.at(id)];
    if (other.skipped.empty()) now.needs.push_back(other.package);
  }
  now.needs.insert(now.needs.end(), step.published.begin(), step.published.end());
  return now;
}

bool Planner::refuse(Step& step, const recipe::Recipe& recipe, const recipe::Rules& rules, bool optional) {
  const std::map<std::string, std::string> settings = chosen_settings(recipe, m_request);
  const auto refused = [&](const std::string& why) {
    if (!optional) throw Error(why);
    step.skipped = why;
    return true;
  };
  for (const recipe::Refusal& refusal : rules.refusals) {
    const std::vector<std::string> hit = refusal.hits(step.archs);
    if (hit.empty() && !refusal.archs.empty()) continue;
    if (refusal.is_overridden(settings)) {
      note(fmt::format("{}: --set {}={}, although {}", recipe.name, refusal.override_by,
                       settings.at(refusal.override_by), refusal.why));
      continue;
    }
    const std::string words = recipe.override_words(refusal);
    return refused(fmt::format("{} is not built{}: {}{}", recipe.name, hit.empty() ? "" : " for " + join(hit, ", "),
                               refusal.why, words.empty() ? "" : "; " + words + " builds it nevertheless"));
  }
  if (!optional) return false;
  try {
    recipe::check_legal(step.archs, rules.archs, recipe.name);
  } catch (const Error& error) {
    return refused(error.what());
  }
  return false;
}

// The recipe of torch itself, where it is built in this plan: what uses torch is built against that one.
const recipe::Recipe* Planner::torch_recipe(const recipe::Recipe& besides) const {
  if (!m_request.torch.empty()) return nullptr;
  for (const std::string& package : m_request.packages) {
    const recipe::Recipe* recipe = m_inputs.recipes.find(package);
    if (recipe != nullptr && recipe->name != besides.name && pep::same_name(recipe->project, "torch")) return recipe;
  }
  return nullptr;
}

// Whether a wheel of the version that the source names is there for this interpreter: then nobody has to build it.
bool Planner::is_published(Step& step, const recipe::Dependency& need) {
  if (need.published.empty()) return false;
  std::string wanted = need.published;
  if (!need.published_version.empty()) {
    const auto text = text_of(step.source, need.published_version);
    if (!text) return false;
    wanted += "==" + std::string(trim(*text));
  }
  try {
    const env::PinnedWheel* wheel = lock_for(step, {wanted}).find(need.published);
    if (wheel != nullptr) step.need_versions[need.recipe] = wheel->version;
  } catch (const Error& error) {
    note(fmt::format("{} is built: {} is not to be had ({})", need.recipe, wanted, error.what()));
    return false;
  }
  note(fmt::format("{} is not built: {} is published", need.recipe, wanted));
  return true;
}

void Planner::add_needs(Step& step, const recipe::Rules& rules) {
  for (const recipe::Dependency& need : rules.needs) {
    if (need.recipe.empty()) {
      if (!need.companion) add_once(step.requirements, need.requirement);
      continue;
    }
    if (is_published(step, need)) {
      add_once(step.published, need.recipe);
      continue;
    }
    const recipe::Recipe& other = recipe_for(need.recipe);
    const std::vector<recipe::Variant> variants = other.variants();
    // A dependency that knows no GPU is built for the CPU.
    const bool same = std::find(variants.begin(), variants.end(), step.variant) != variants.end();
    const recipe::Variant variant = same ? step.variant : variants.front();
    const std::string id =
        add_step(other, variant, need.target, same ? step.archs : gpu::ArchList{}, step.python, need.optional);
    add_once(step.needs, id);
    if (const Step& built = m_plan.steps[m_steps.at(id)]; built.skipped.empty())
      step.need_versions[need.recipe] = built.version;
    if (need.companion) add_once(step.companions, id);
    if (need.optional) add_once(step.optional, id);
  }
  const recipe::Recipe* torch = rules.requires_versions.uses_torch ? torch_recipe(recipe_for(step.package)) : nullptr;
  if (torch == nullptr) return;
  Request of_torch = m_request;
  of_torch.target.clear();
  const gpu::ArchList archs =
      choose_archs(of_torch, *torch, step.variant, m_gpus, m_inputs.host.environment, m_plan.notes).front();
  add_once(step.needs, add_step(*torch, step.variant, "", archs, step.python));
}

}  // namespace wheelsmith::plan
