#include "document/value.h"
#include "fetch/fetch.h"
#include "report/plan.h"

namespace wheelsmith::report {

namespace {

using document::Array;
using document::Table;
using document::Value;

Array list_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

Value forecast_value(const plan::Forecast& forecast) {
  Table table;
  table["seconds"] = forecast.seconds;
  table["memory_per_job"] = forecast.memory_per_job;
  table["disk"] = forecast.disk;
  table["wheel_size"] = forecast.wheel_size;
  table["from"] = forecast.from.empty() ? Value() : Value(forecast.from);
  return table;
}

Value source_value(const source::Pin& pin) {
  Table table;
  switch (pin.kind) {
    case source::Pin::Kind::archive:
      table["kind"] = "archive";
      table["file"] = pin.file_name;
      table["url"] = fetch::without_credentials(pin.url);
      table["sha256"] = pin.sha256;
      break;
    case source::Pin::Kind::folder:
      table["kind"] = "folder";
      table["folder"] = pin.folder.string();
      table["incremental"] = pin.incremental;
      break;
    case source::Pin::Kind::git:
      table["kind"] = "git";
      table["url"] = fetch::without_credentials(pin.git_url);
      table["ref"] = pin.git_ref;
      table["commit"] = pin.git_commit;
      table["submodules"] = pin.submodules ? Value(list_of(*pin.submodules)) : Value();
      break;
    case source::Pin::Kind::program: table["kind"] = "program"; break;
  }
  table["digest"] = pin.digest;
  return table;
}

Value text_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

Value cuda_value(const plan::Step& step) {
  if (step.cuda_version.empty()) return {};
  Table table;
  table["version"] = step.cuda_version;
  table["root"] = text_or_null(step.cuda_root);
  table["from"] = step.registry_cuda.empty() ? "machine" : "registry";
  return table;
}

Value rocm_value(const plan::Step& step) {
  if (step.rocm_root.empty() && step.registry_rocm.empty()) return {};
  Table table;
  table["version"] = step.rocm_version;
  table["root"] = text_or_null(step.rocm_root);
  table["from"] = step.registry_rocm.empty() ? "machine" : "registry";
  return table;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// A key of config settings may repeat; then the values are a list, as PEP 517's frontends hand them over.
Value pairs_value(const Pairs& pairs) {
  Table table;
  for (const auto& [name, value] : pairs) {
    Value& place = table[name];
    if (place.is_null())
      place = value;
    else if (place.array() != nullptr)
      place.array()->emplace_back(value);
    else
      place = Array{place, value};
  }
  return table;
}

Value checks_value(const recipe::Checks& checks) {
  Table table;
  table["symbols"] = list_of(checks.symbols);
  table["members"] = list_of(checks.members);
  table["no_members"] = list_of(checks.no_members);
  table["provided"] = list_of(checks.provided);
  table["accepted"] = pairs_value(checks.accepted);
  return table;
}

// What the step's process will do, from the recipe as it holds for this step.
void add_work(Table& table, const plan::Step& step) {
  table["environment"] = pairs_value(step.environment);
  table["volatile_environment"] = pairs_value(step.volatile_environment);
  table["config"] = pairs_value(step.config);
  table["options"] = list_of(step.options);
  table["programs"] = pairs_value(Pairs(step.programs.begin(), step.programs.end()));
  table["compiler"] = text_or_null(step.cxx);
  Array fetches, prepare, tests, runtime, checklist;
  for (const plan::FetchedSource& fetch : step.fetches) {
    Value one = source_value(fetch.pin);
    (*one.table())["name"] = fetch.name;
    (*one.table())["variable"] = text_or_null(fetch.variable);
    fetches.push_back(std::move(one));
  }
  for (const std::vector<std::string>& command : step.prepare) prepare.emplace_back(list_of(command));
  for (const recipe::RuntimeVariable& one : step.runtime) {
    Table item;
    item["variable"] = one.variable;
    item["value"] = one.value;
    item["why"] = one.why;
    runtime.emplace_back(std::move(item));
  }
  for (const recipe::ChecklistItem& one : step.checklist) checklist.emplace_back(one.id);
  if (!step.recipe_text.empty()) {
    const recipe::Recipe own = recipe::parse_recipe(step.recipe_text, step.recipe_origin);
    const recipe::Rules& rules = own.rules(step.variant, step.target);
    for (const recipe::Test& test : rules.tests) tests.emplace_back(test.name);
    table["checks"] = checks_value(rules.checks);
  }
  std::vector<std::string> patches, files;
  for (const source::Patch& patch : step.patches) patches.push_back(patch.name);
  for (const auto& [path, text] : step.files) files.push_back(path);
  table["patches"] = list_of(patches);
  table["files"] = list_of(files);
  table["fetches"] = std::move(fetches);
  table["prepare"] = std::move(prepare);
  table["tests"] = std::move(tests);
  table["runtime"] = std::move(runtime);
  table["checklist"] = std::move(checklist);
}

// What the recipe knows of a system that is none of Linux.
Array platform_rules_value(const std::vector<recipe::OtherPlatform>& platforms) {
  Array rules;
  for (const recipe::OtherPlatform& platform : platforms) {
    for (const recipe::OtherPlatform::Rule& rule : platform.rules) {
      Table table;
      table["id"] = rule.id;
      table["what"] = rule.what;
      table["why"] = rule.why;
      table["fix"] = rule.fix;
      rules.emplace_back(std::move(table));
    }
  }
  return rules;
}

Value step_value(const plan::Step& step) {
  Table table;
  table["id"] = step.id;
  table["package"] = step.package;
  table["project"] = step.project;
  table["version"] = step.version;
  table["key"] = step.key;
  table["cached"] = step.cached;
  table["reason"] = step.reason;
  table["needs"] = list_of(step.needs);
  table["companions"] = list_of(step.companions);
  table["optional"] = list_of(step.optional);
  table["skipped"] = text_or_null(step.skipped);
  table["variant"] = std::string(recipe::to_string(step.variant));
  table["target"] = step.target;
  table["archs"] = step.archs.to_string();
  table["python"] = step.python.version;
  table["python_tag"] = step.python.abi;
  table["platform"] = text_or_null(step.platform);
  table["platform_rules"] = platform_rules_value(step.other_rules);
  table["build_type"] = step.build_type;
  table["network"] = step.network;
  table["source"] = source_value(step.source);
  table["torch"] = text_or_null(step.torch_version);
  table["cuda"] = cuda_value(step);
  table["rocm"] = rocm_value(step);
  table["requirements"] = list_of(step.requirements);
  Array locked;
  for (const env::PinnedWheel& wheel : step.lock.wheels) {
    Table item;
    item["name"] = wheel.name;
    item["version"] = wheel.version;
    item["sha256"] = wheel.sha256;
    locked.emplace_back(std::move(item));
  }
  table["locked"] = std::move(locked);
  table["assumptions"] = list_of(step.assumptions);
  table["forecast"] = forecast_value(step.forecast);
  add_work(table, step);
  return table;
}

void add_plan(Table& table, const plan::Plan& plan) {
  Array steps;
  for (const plan::Step& step : plan.steps) steps.push_back(step_value(step));
  table["steps"] = std::move(steps);
  table["notes"] = list_of(plan.notes);
}

}  // namespace

std::string plan_json(const plan::Plan& plan, const plan::Plan* other) {
  Table document;
  document["schema"] = 1;
  add_plan(document, plan);
  if (other != nullptr) {
    Table compared;
    add_plan(compared, *other);
    document["compare"] = std::move(compared);
  }
  return document::to_json(document) + "\n";
}

std::string recipes_json(const recipe::Library& library) {
  Array recipes, broken;
  for (const std::string& name : library.names()) {
    const recipe::Recipe& recipe = *library.find(name);
    Table table;
    table["name"] = recipe.name;
    table["summary"] = recipe.summary;
    Array variants;
    Table targets;
    for (const recipe::Variant variant : recipe.variants()) {
      const std::string word(recipe::to_string(variant));
      variants.emplace_back(word);
      std::vector<std::string> named = recipe.targets(variant);
      std::erase(named, "");
      targets[word] = list_of(named);
    }
    table["variants"] = std::move(variants);
    table["targets"] = std::move(targets);
    table["origin"] = recipe.origin;
    recipes.emplace_back(std::move(table));
  }
  for (const auto& [name, error] : library.broken()) {
    Table table;
    table["name"] = name;
    table["error"] = error;
    broken.emplace_back(std::move(table));
  }
  Table document;
  document["schema"] = 1;
  document["recipes"] = std::move(recipes);
  document["broken"] = std::move(broken);
  return document::to_json(document) + "\n";
}

std::string recipe_json(const recipe::Recipe& recipe) {
  Table document;
  document["schema"] = 1;
  document["origin"] = recipe.origin;
  document["recipe"] = recipe.document;
  return document::to_json(document) + "\n";
}

}  // namespace wheelsmith::report
