#include "plan/step/carried.h"

#include <algorithm>

#include "base/error.h"
#include "base/secret.h"
#include "base/text.h"
#include "fetch/fetch.h"
#include "plan/step/spec_fields.h"

namespace wheelsmith::plan {

namespace {

constexpr std::string_view k_python = "${python}";

// Only public URLs, without passwords.
std::string shared_address(const std::string& url) {
  for (const std::string_view scheme : {"https://", "http://", "ssh://", "git://"}) {
    if (url.starts_with(scheme)) return fetch::without_credentials(url);
  }
  return "";
}

// "name @ file:///home/me/name.whl" refers to a file of this machine; the lock identifies it by its hash.
std::string without_file(const std::string& requirement) {
  return requirement.find("file:") == std::string::npos ? requirement
                                                        : requirement.substr(0, requirement.find_first_of(" @"));
}

source::Pin carried_pin(source::Pin pin) {
  pin.url.clear();
  pin.folder.clear();
  pin.files.clear();
  pin.git_ref.clear();
  pin.git_url = shared_address(pin.git_url);
  if (pin.kind == source::Pin::Kind::folder) pin.git_tag.clear();
  return pin;
}

env::Lock carried_lock(env::Lock lock) {
  for (env::PinnedWheel& wheel : lock.wheels) wheel.url.clear();
  for (std::string& requirement : lock.requirements) requirement = without_file(requirement);
  return lock;
}

toolchain::Python carried_python(const toolchain::Python& python) {
  toolchain::Python result;
  result.version = python.version;
  result.implementation = python.implementation;
  result.tag = python.tag;
  result.abi = python.abi;
  result.platform = python.platform;
  return result;
}

std::string folder_of_machine(const std::string& folder) { return folder.empty() ? "" : std::string(k_of_machine); }

ToolSpec carried_tools(ToolSpec tools) {
  tools.cc.clear();
  tools.cxx.clear();
  for (auto& [name, path] : tools.programs) path.clear();
  tools.cuda.root = folder_of_machine(tools.cuda.root);
  tools.rocm.root = folder_of_machine(tools.rocm.root);
  tools.rocm.index.clear();
  tools.rocm.lock = carried_lock(std::move(tools.rocm.lock));
  for (toolchain::Library& library : tools.libraries) {
    library.root.clear();
    library.header.clear();
    library.file.clear();
    library.found_by.clear();
  }
  return tools;
}

EnvironmentSpec carried_environment(EnvironmentSpec environment) {
  environment.lock = carried_lock(std::move(environment.lock));
  for (std::string& requirement : environment.requirements) requirement = without_file(requirement);
  choose::TorchChoice torch;
  torch.kind = environment.torch.kind;
  torch.requirement = without_file(environment.torch.requirement);
  torch.prereleases = environment.torch.prereleases;
  environment.torch = std::move(torch);
  return environment;
}

// Hides possible secrets, and replaces the interpreter's folder by a placeholder.
std::string carried_variable(const std::string& name, std::string value, const std::string& prefix) {
  if (names_a_secret(name) || looks_secret(value)) return std::string(k_hidden_value);
  if (!prefix.empty()) replace_all(value, prefix + "/bin", std::string(k_python) + "/bin");
  return value;
}

// Also hides the digest of a hidden value: a short value could be guessed from it.
store::Manifest carried_manifest(const store::Manifest& manifest, const std::string& prefix,
                                 const std::vector<std::string>& hidden) {
  store::Manifest result;
  for (const auto& [name, value] : manifest.inputs()) {
    const std::string variable = name.starts_with("env:") ? name.substr(4) : "";
    if (!variable.empty())
      result.set(name,
                 is_one_of(variable, hidden) ? std::string(k_hidden_value) : carried_variable(variable, value, prefix));
    else if (name.starts_with("requires:"))
      result.set(without_file(name), value);
    else
      result.set(name, value);
  }
  return result;
}

// Members missing from the document keep their defaults: it may be of another version.
void fill_in(document::Value& value, const document::Value& defaults) {
  if (value.table() == nullptr || defaults.table() == nullptr) return;
  for (const auto& [name, known] : *defaults.table()) {
    document::Value& member = (*value.table())[name];
    if (member.is_null())
      member = known;
    else
      fill_in(member, known);
  }
}

// Omits members with default values.
document::Value without_defaults(const document::Value& value, const document::Value& defaults) {
  if (value.table() == nullptr || defaults.table() == nullptr) return value;
  document::Table result;
  for (const auto& [name, member] : *value.table()) {
    const document::Value& usual = defaults[name];
    if (!(member == usual)) result[name] = without_defaults(member, usual);
  }
  return result;
}

}  // namespace

document::Value carried_value(const BuildSpec& spec) {
  const std::string prefix = spec.environment.isolated ? "" : spec.python.prefix.string();
  BuildSpec carried = spec;
  carried.id.clear();  // derived from the package, the variant, the Python and the architectures
  carried.identity.clear();
  carried.recipe_text.clear();  // a separate file in the wheel
  carried.recipe_origin.clear();
  carried.key.clear();  // in the provenance
  carried.verbose = false;
  carried.python = carried_python(spec.python);
  carried.source = carried_pin(spec.source);
  carried.environment = carried_environment(spec.environment);
  carried.tools = carried_tools(spec.tools);
  carried.variables.loose.clear();
  for (auto& [name, value] : carried.variables.fixed) value = carried_variable(name, value, prefix);
  for (Action& action : carried.actions) {
    if (auto* fetch = std::get_if<FetchSource>(&action.what)) fetch->pin = carried_pin(fetch->pin);
  }
  carried.manifest = carried_manifest(spec.manifest, prefix, hidden_variables(carried));
  document::Table document;
  document["schema"] = 1;
  document["spec"] = without_defaults(carried.to_value(), BuildSpec().to_value());
  return document;
}

BuildSpec read_carried(const document::Value& value, const std::string& recipe_text) {
  if (value["schema"].integer_or(0) != 1 || value["spec"].table() == nullptr)
    throw Error("build.json is not a build specification that this version of wheelsmith can read");
  document::Value document = value["spec"];
  fill_in(document, BuildSpec().to_value());
  BuildSpec spec = BuildSpec::from_value(document);
  spec.recipe_text = recipe_text;
  spec.recipe_origin = "recipe.toml of the wheel";
  return spec;
}

std::vector<std::string> hidden_variables(const BuildSpec& spec) {
  std::vector<std::string> names;
  for (const auto& [name, value] : spec.variables.fixed) {
    if (value == k_hidden_value) names.push_back(name);
  }
  return names;
}

}  // namespace wheelsmith::plan
