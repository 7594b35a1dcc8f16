#include "doctor/examine_packages.h"

#include "base/error.h"
#include "choose/python.h"
#include "doctor/examiner.h"

namespace wheelsmith::doctor {

namespace {

// An interpreter; one that was not found has a problem and no executable.
struct FoundPython {
  toolchain::Python python;
  std::string problem;
};

std::vector<FoundPython> find_pythons(const choose::Request& request, const toolchain::Host& host) {
  std::vector<std::string> wanted = request.pythons;
  if (wanted.empty()) wanted.emplace_back();
  std::vector<FoundPython> found;
  for (const std::string& text : wanted) {
    choose::Request one = request;
    one.pythons.clear();
    if (!text.empty()) one.pythons.push_back(text);
    try {
      for (toolchain::Python& python : choose::choose_pythons(one, host)) found.push_back({std::move(python), ""});
    } catch (const Error& error) {
      found.push_back({toolchain::Python(), error.what()});
    }
  }
  return found;
}

}  // namespace

std::vector<std::string> recipe_programs(const recipe::Library& recipes) {
  std::vector<std::string> programs;
  for (const std::string& name : recipes.names()) {
    const recipe::Recipe& recipe = *recipes.find(name);
    for (const recipe::Variant variant : recipe.variants()) {
      for (const std::string& target : recipe.targets(variant)) {
        const std::vector<std::string>& more = recipe.rules(variant, target).requires_versions.programs;
        programs.insert(programs.end(), more.begin(), more.end());
      }
    }
  }
  return programs;
}

Facts machine_facts(const toolchain::Host& host, const MachineQuery& query) {
  Paths paths = query.paths;
  if (!query.store_problem.empty()) paths.store.clear();
  Facts facts = collect_facts(host, paths, query.programs);
  if (!query.store_problem.empty() && !host.described)
    facts.places.insert(facts.places.begin(), {"store", query.paths.store, 0, query.store_problem});
  facts.platform = query.platform;
  facts.offline = query.offline;
  facts.allow_unsupported_compiler = query.allow_unsupported_compiler;
  facts.jobs = query.jobs;
  return facts;
}

std::vector<Check> survey_machine(const toolchain::Host& host, Facts facts) {
  const std::vector<toolchain::Python> pythons = toolchain::find_pythons(host);
  if (!pythons.empty()) find_torch_of(facts, pythons.front().executable, host);
  return survey(pythons, facts);
}

std::vector<Check> examine_packages(const choose::Request& request, const plan::PlanInputs& inputs, Facts facts) {
  std::vector<Check> checks;
  for (const FoundPython& found : find_pythons(request, inputs.host)) {
    facts.python_problem = found.problem;
    facts.rocm_index = request.rocm_index;
    find_rocm_of(facts, found.python, inputs.host);
    Examiner examiner(request, inputs, facts);
    for (const std::string& package : request.packages) examiner.examine(package, found.python);
    for (Check& check : examiner.take_checks()) checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace wheelsmith::doctor
