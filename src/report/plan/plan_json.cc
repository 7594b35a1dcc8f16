#include "base/secret.h"
#include "document/value.h"
#include "fetch/fetch.h"
#include "report/plan/plan.h"

namespace wheelsmith::report {

namespace {

using document::Array;
using document::Table;
using document::Value;

Array list_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

Value text_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

Value forecast_value(const plan::Forecast& forecast) {
  Table table;
  table["seconds"] = forecast.seconds;
  table["memory_per_job"] = forecast.memory_per_job;
  table["disk"] = forecast.disk;
  table["wheel_size"] = forecast.wheel_size;
  table["from"] = text_or_null(std::string(enum_name(forecast.from)));
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

Value toolkit_value(const std::string& version, const std::string& root, const std::string& index_version) {
  Table table;
  table["version"] = version;
  table["root"] = text_or_null(root);
  table["from"] = index_version.empty() ? "machine" : "registry";
  return table;
}

Value cuda_value(const plan::CudaSpec& cuda) {
  return cuda.version.empty() ? Value() : toolkit_value(cuda.version, cuda.root, cuda.index_version);
}

Value rocm_value(const plan::RocmSpec& rocm) {
  if (rocm.root.empty() && rocm.index_version.empty()) return {};
  return toolkit_value(rocm.version, rocm.root, rocm.index_version);
}

Array libraries_value(const std::vector<toolchain::Library>& libraries) {
  Array list;
  for (const toolchain::Library& library : libraries) {
    Table table;
    table["name"] = library.name;
    table["version"] = text_or_null(library.version);
    table["header"] = text_or_null(library.header.string());
    table["file"] = text_or_null(library.file.string());
    table["found_by"] = text_or_null(library.found_by);
    list.emplace_back(std::move(table));
  }
  return list;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// A key of the config settings may occur several times; its values then form a list, as PEP 517 frontends pass them.
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

// The actions of a step, grouped by kind.
class Work {
 public:
  explicit Work(const plan::BuildSpec& spec, const recipe::Rules* rules) : m_rules(rules) {
    for (const plan::Action& action : spec.actions) {
      m_phase = action.phase;
      std::visit(*this, action.what);
    }
  }

  void operator()(const plan::FetchSource& fetch) {
    Value one = source_value(fetch.pin);
    (*one.table())["name"] = fetch.name;
    (*one.table())["variable"] = text_or_null(variable_of(fetch.name));
    fetches.push_back(std::move(one));
  }
  void operator()(const plan::ApplyPatch& apply) { patches.emplace_back(apply.patch.name); }
  void operator()(const plan::RemoveFiles&) {}
  void operator()(const plan::WriteFile& file) { files.emplace_back(file.path); }
  void operator()(const plan::RunCommand& command) {
    if (m_phase == plan::Phase::prepare) {
      prepare.emplace_back(list_of(command.argv));
      return;
    }
    // After `setup.py bdist_wheel --dist-dir DIR`.
    constexpr std::size_t k_own_words = 5;
    for (std::size_t i = k_own_words; i < command.argv.size(); ++i) options.emplace_back(command.argv[i]);
  }
  void operator()(const plan::CallHook& call) {
    using Hook = plan::CallHook::Hook;
    if (call.hook != Hook::build_wheel && call.hook != Hook::build_editable) return;
    for (const auto& [name, value] : call.config) {
      if (name == "--build-option")
        options.emplace_back(value);
      else
        config.emplace_back(name, value);
    }
  }
  void operator()(const plan::PackProgram&) {}

  Array patches, files, fetches, prepare, options;
  Pairs config;

 private:
  [[nodiscard]] std::string variable_of(const std::string& name) const {
    if (m_rules == nullptr) return "";
    for (const recipe::Fetch& fetch : m_rules->fetches) {
      if (fetch.name == name) return fetch.variable;
    }
    return "";
  }

  const recipe::Rules* m_rules;
  plan::Phase m_phase = plan::Phase::source;
};

Pairs without_secrets(Pairs variables) {
  for (auto& [name, value] : variables) {
    value = names_a_secret(name) ? std::string(k_hidden_value) : fetch::without_credentials(value);
  }
  return variables;
}

void add_work(Table& table, const plan::Step& step) {
  const plan::BuildSpec& spec = step.spec;
  std::optional<recipe::Recipe> own;
  const recipe::Rules* rules = nullptr;
  if (!spec.recipe_text.empty()) {
    own = recipe::parse_recipe(spec.recipe_text, spec.recipe_origin);
    rules = &own->rules(spec.variant, spec.target);
  }
  Work work(spec, rules);
  table["environment"] = pairs_value(without_secrets(spec.variables.fixed));
  table["volatile_environment"] = pairs_value(spec.variables.loose);
  table["config"] = pairs_value(work.config);
  table["options"] = std::move(work.options);
  table["programs"] = pairs_value(Pairs(spec.tools.programs.begin(), spec.tools.programs.end()));
  table["compiler"] = text_or_null(spec.tools.cxx);
  table["libraries"] = libraries_value(spec.tools.libraries);
  Array tests, runtime, checklist;
  for (const recipe::RuntimeVariable& one : step.closing.runtime) {
    Table item;
    item["variable"] = one.variable;
    item["value"] = one.value;
    item["why"] = one.why;
    runtime.emplace_back(std::move(item));
  }
  for (const recipe::ChecklistItem& one : step.closing.checklist) checklist.emplace_back(one.id);
  if (rules != nullptr) {
    for (const recipe::Test& test : rules->tests) tests.emplace_back(test.name);
    table["checks"] = checks_value(rules->checks);
  }
  table["patches"] = std::move(work.patches);
  table["files"] = std::move(work.files);
  table["fetches"] = std::move(work.fetches);
  table["prepare"] = std::move(work.prepare);
  table["tests"] = std::move(tests);
  table["runtime"] = std::move(runtime);
  table["checklist"] = std::move(checklist);
}

// The recipe's settings for a platform other than Linux.
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

template <class Wanted>
Array needs_value(const plan::Step& step, Wanted wanted) {
  Array list;
  for (const plan::Edge& need : step.needs) {
    if (wanted(need)) list.emplace_back(need.step);
  }
  return list;
}

Value step_value(const plan::Step& step) {
  const plan::BuildSpec& spec = step.spec;
  Table table;
  table["id"] = spec.id;
  table["package"] = spec.package;
  table["project"] = spec.project;
  table["version"] = spec.version;
  table["wheel_version"] = text_or_null(spec.wheel_version);
  table["key"] = spec.key;
  table["cached"] = step.decision.cached;
  if (!step.decision.remote.empty()) table["remote"] = step.decision.remote;
  if (!step.decision.kept_key.empty()) {
    Table kept;
    kept["key"] = step.decision.kept_key;
    kept["rebuilt"] = list_of(step.decision.rebuilt);
    table["kept"] = std::move(kept);
  }
  if (spec.editable) table["editable"] = true;
  table["reason"] = step.decision.reason;
  table["needs"] = needs_value(step, [](const plan::Edge&) { return true; });
  table["companions"] =
      needs_value(step, [](const plan::Edge& need) { return need.kind == plan::Edge::Kind::alongside; });
  table["optional"] = needs_value(step, [](const plan::Edge& need) { return need.optional; });
  table["skipped"] = text_or_null(step.decision.skipped);
  table["variant"] = std::string(recipe::to_string(spec.variant));
  table["target"] = spec.target;
  table["archs"] = spec.archs.to_string();
  table["python"] = spec.python.version;
  table["python_tag"] = spec.python.abi;
  table["platform"] = text_or_null(spec.platform);
  table["platform_rules"] = platform_rules_value(step.closing.other_rules);
  table["build_type"] = spec.build_type;
  if (!spec.container.id.empty()) {
    document::Table container;
    container["image"] = spec.container.name;
    container["id"] = spec.container.id;
    table["container"] = std::move(container);
  }
  table["network"] = spec.network;
  table["source"] = source_value(spec.source);
  table["torch"] = text_or_null(spec.environment.torch_build.version);
  table["cuda"] = cuda_value(spec.tools.cuda);
  table["rocm"] = rocm_value(spec.tools.rocm);
  table["requirements"] = list_of(spec.environment.requirements);
  Array locked;
  for (const env::PinnedWheel& wheel : spec.environment.lock.wheels) {
    Table item;
    item["name"] = wheel.name;
    item["version"] = wheel.version;
    item["sha256"] = wheel.sha256;
    locked.emplace_back(std::move(item));
  }
  table["locked"] = std::move(locked);
  table["assumptions"] = list_of(step.closing.assumptions);
  table["forecast"] = forecast_value(step.decision.forecast);
  Table download;
  download["files"] = step.decision.download.files;
  download["bytes"] = step.decision.download.bytes;
  download["unknown"] = step.decision.download.unknown;
  table["download"] = std::move(download);
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
