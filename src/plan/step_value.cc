// A step as a document: what the runner hands to the step's own process, here or on another machine.

#include "base/error.h"
#include "base/text.h"
#include "plan/plan.h"

namespace wheelsmith::plan {

namespace {

using document::Array;
using document::Table;
using document::Value;
using Pairs = std::vector<std::pair<std::string, std::string>>;

Array list_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

std::vector<std::string> strings(const std::vector<std::filesystem::path>& paths) {
  return {paths.begin(), paths.end()};
}

std::vector<std::filesystem::path> paths(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

// As a list, since a key may stand twice and the order may matter.
Array list_of(const Pairs& pairs) {
  Array result;
  for (const auto& [name, value] : pairs) result.emplace_back(Array{name, value});
  return result;
}

Pairs pairs(const Value& value) {
  Pairs result;
  if (value.array() == nullptr) return result;
  for (const Value& item : *value.array()) {
    const std::vector<std::string> words = item.texts();
    if (words.size() == 2) result.emplace_back(words[0], words[1]);
  }
  return result;
}

Value python_value(const toolchain::Python& python) {
  Table table;
  table["executable"] = python.executable.string();
  table["version"] = python.version;
  table["implementation"] = python.implementation;
  table["tag"] = python.tag;
  table["abi"] = python.abi;
  table["platform"] = python.platform;
  table["soabi"] = python.soabi;
  table["prefix"] = python.prefix.string();
  table["base_prefix"] = python.base_prefix.string();
  table["include"] = python.include.string();
  table["purelib"] = python.purelib.string();
  table["platlib"] = python.platlib.string();
  table["stdlib"] = python.stdlib.string();
  table["has_headers"] = python.has_headers;
  table["has_venv"] = python.has_venv;
  table["has_pip"] = python.has_pip;
  table["has_ensurepip"] = python.has_ensurepip;
  table["pip_version"] = python.pip_version;
  table["glibc"] = python.glibc;
  table["digest"] = python.digest;
  return table;
}

toolchain::Python python_from(const Value& value) {
  toolchain::Python python;
  python.executable = value["executable"].text_or();
  python.version = value["version"].text_or();
  python.implementation = value["implementation"].text_or();
  python.tag = value["tag"].text_or();
  python.abi = value["abi"].text_or();
  python.platform = value["platform"].text_or();
  python.soabi = value["soabi"].text_or();
  python.prefix = value["prefix"].text_or();
  python.base_prefix = value["base_prefix"].text_or();
  python.include = value["include"].text_or();
  python.purelib = value["purelib"].text_or();
  python.platlib = value["platlib"].text_or();
  python.stdlib = value["stdlib"].text_or();
  python.has_headers = value["has_headers"].boolean_or(false);
  python.has_venv = value["has_venv"].boolean_or(false);
  python.has_pip = value["has_pip"].boolean_or(false);
  python.has_ensurepip = value["has_ensurepip"].boolean_or(false);
  python.pip_version = value["pip_version"].text_or();
  python.glibc = value["glibc"].text_or();
  python.digest = value["digest"].text_or();
  return python;
}

Value source_value(const source::Pin& pin) {
  Table table;
  table["kind"] = static_cast<std::int64_t>(pin.kind);
  table["project"] = pin.project;
  table["version"] = pin.version;
  table["file_name"] = pin.file_name;
  table["url"] = pin.url;
  table["sha256"] = pin.sha256;
  table["folder"] = pin.folder.string();
  table["git_url"] = pin.git_url;
  table["git_ref"] = pin.git_ref;
  table["git_commit"] = pin.git_commit;
  table["git_tag"] = pin.git_tag;
  if (pin.submodules) table["submodules"] = list_of(*pin.submodules);
  table["incremental"] = pin.incremental;
  table["digest"] = pin.digest;
  return table;
}

source::Pin source_from(const Value& value) {
  source::Pin pin;
  const std::int64_t kind = value["kind"].integer_or(0);
  if (kind < 0 || kind > static_cast<std::int64_t>(source::Pin::Kind::program))
    throw Error("a job names a source of an unknown kind");
  pin.kind = static_cast<source::Pin::Kind>(kind);
  pin.project = value["project"].text_or();
  pin.version = value["version"].text_or();
  pin.file_name = value["file_name"].text_or();
  pin.url = value["url"].text_or();
  pin.sha256 = value["sha256"].text_or();
  pin.folder = value["folder"].text_or();
  pin.git_url = value["git_url"].text_or();
  pin.git_ref = value["git_ref"].text_or();
  pin.git_commit = value["git_commit"].text_or();
  pin.git_tag = value["git_tag"].text_or();
  if (value["submodules"].array() != nullptr) pin.submodules = value["submodules"].texts();
  pin.incremental = value["incremental"].boolean_or(false);
  pin.digest = value["digest"].text_or();
  return pin;
}

Value torch_value(const TorchChoice& torch) {
  Table table;
  table["kind"] = static_cast<std::int64_t>(torch.kind);
  table["requirement"] = torch.requirement;
  table["index_urls"] = list_of(torch.index_urls);
  table["wheelhouses"] = list_of(strings(torch.wheelhouses));
  table["prereleases"] = torch.prereleases;
  table["python"] = torch.python.string();
  return table;
}

TorchChoice torch_from(const Value& value) {
  TorchChoice torch;
  const std::int64_t kind = value["kind"].integer_or(0);
  if (kind < 0 || kind > static_cast<std::int64_t>(TorchChoice::Kind::environment))
    throw Error("a job names a torch of an unknown kind");
  torch.kind = static_cast<TorchChoice::Kind>(kind);
  torch.requirement = value["requirement"].text_or();
  torch.index_urls = value["index_urls"].texts();
  torch.wheelhouses = paths(value["wheelhouses"].texts());
  torch.prereleases = value["prereleases"].boolean_or(false);
  torch.python = value["python"].text_or();
  return torch;
}

Value forecast_value(const Forecast& forecast) {
  Table table;
  table["seconds"] = forecast.seconds;
  table["memory_per_job"] = forecast.memory_per_job;
  table["disk"] = forecast.disk;
  table["wheel_size"] = forecast.wheel_size;
  table["from"] = forecast.from;
  return table;
}

Forecast forecast_from(const Value& value) {
  Forecast forecast;
  forecast.seconds = value["seconds"].number();
  forecast.memory_per_job = static_cast<std::uint64_t>(value["memory_per_job"].integer_or(0));
  forecast.disk = static_cast<std::uint64_t>(value["disk"].integer_or(0));
  forecast.wheel_size = static_cast<std::uint64_t>(value["wheel_size"].integer_or(0));
  forecast.from = value["from"].text_or();
  return forecast;
}

Array patches_value(const std::vector<source::Patch>& patches) {
  Array result;
  for (const source::Patch& patch : patches)
    result.emplace_back(Array{patch.name, patch.text, patch.folder, patch.late ? "late" : "early"});
  return result;
}

std::vector<source::Patch> patches_from(const Value& value) {
  std::vector<source::Patch> result;
  if (value.array() == nullptr) return result;
  for (const Value& patch : *value.array()) {
    const std::vector<std::string> words = patch.texts();
    if (words.size() == 4) result.push_back({words[0], words[1], words[2], words[3] == "late"});
  }
  return result;
}

Array fetches_value(const std::vector<FetchedSource>& fetches) {
  Array result;
  for (const FetchedSource& fetched : fetches) {
    Table table;
    table["name"] = fetched.name;
    table["source"] = source_value(fetched.pin);
    table["variable"] = fetched.variable;
    table["subfolder"] = fetched.subfolder;
    result.emplace_back(std::move(table));
  }
  return result;
}

std::vector<FetchedSource> fetches_from(const Value& value) {
  std::vector<FetchedSource> result;
  if (value.array() == nullptr) return result;
  for (const Value& one : *value.array()) {
    result.push_back(
        {one["name"].text_or(), source_from(one["source"]), one["variable"].text_or(), one["subfolder"].text_or()});
  }
  return result;
}

Array commands_value(const std::vector<std::vector<std::string>>& commands) {
  Array result;
  for (const std::vector<std::string>& command : commands) result.emplace_back(list_of(command));
  return result;
}

std::vector<std::vector<std::string>> commands_from(const Value& value) {
  std::vector<std::vector<std::string>> result;
  if (value.array() == nullptr) return result;
  for (const Value& command : *value.array()) result.push_back(command.texts());
  return result;
}

}  // namespace

Value Step::to_value() const {
  Table table;
  table["id"] = id;
  table["identity"] = identity;
  table["package"] = package;
  table["project"] = project;
  table["version"] = version;
  table["variant"] = std::string(recipe::to_string(variant));
  table["target"] = target;
  table["archs"] = archs.to_string();
  table["recipe_text"] = recipe_text;
  table["recipe_origin"] = recipe_origin;
  table["assumptions"] = list_of(assumptions);
  table["python"] = python_value(python);
  table["source"] = source_value(source);
  table["patches"] = patches_value(patches);
  table["fetches"] = fetches_value(fetches);
  table["files"] = list_of(files);
  table["prepare"] = commands_value(prepare);
  table["requirements"] = list_of(requirements);
  table["lock"] = lock.to_value();
  table["torch"] = torch_value(torch);
  table["torch_version"] = torch_version;
  table["torch_cuda"] = torch_cuda;
  table["torch_hip"] = torch_hip;
  table["cc"] = cc;
  table["cxx"] = cxx;
  table["compiler_family"] = compiler_family;
  table["cuda_root"] = cuda_root;
  table["registry_cuda"] = registry_cuda;
  table["cuda_version"] = cuda_version;
  table["rocm_root"] = rocm_root;
  table["registry_rocm"] = registry_rocm;
  table["rocm_version"] = rocm_version;
  table["rocm_index"] = rocm_index;
  table["rocm_lock"] = rocm_lock.to_value();
  table["rocm_clang"] = rocm_clang;
  table["rocm_device_libraries"] = rocm_device_libraries;
  table["programs"] = list_of(Pairs(programs.begin(), programs.end()));
  table["environment"] = list_of(environment);
  table["volatile_environment"] = list_of(volatile_environment);
  table["config"] = list_of(config);
  table["options"] = list_of(options);
  table["platform"] = platform;
  table["build_type"] = build_type;
  table["network"] = network;
  table["verbose"] = verbose;
  table["uncacheable"] = uncacheable;
  table["manifest"] = manifest.to_value();
  table["key"] = key;
  table["needs"] = list_of(needs);
  table["companions"] = list_of(companions);
  table["optional"] = list_of(optional);
  table["reason"] = reason;
  table["forecast"] = forecast_value(forecast);
  return table;
}

Step Step::from_value(const Value& value) {
  Step step;
  step.id = value["id"].text_or();
  step.identity = value["identity"].text_or();
  step.package = value["package"].text_or();
  step.project = value["project"].text_or();
  step.version = value["version"].text_or();
  const auto variant = recipe::variant_named(value["variant"].text_or());
  if (!variant) throw Error("a job without a variant");
  step.variant = *variant;
  step.target = value["target"].text_or();
  if (const std::string archs = value["archs"].text_or(); !archs.empty()) step.archs = gpu::ArchList::parse(archs);
  step.recipe_text = value["recipe_text"].text_or();
  step.recipe_origin = value["recipe_origin"].text_or();
  step.assumptions = value["assumptions"].texts();
  step.python = python_from(value["python"]);
  step.source = source_from(value["source"]);
  step.patches = patches_from(value["patches"]);
  step.fetches = fetches_from(value["fetches"]);
  step.files = pairs(value["files"]);
  step.prepare = commands_from(value["prepare"]);
  step.requirements = value["requirements"].texts();
  step.lock = env::Lock::from_value(value["lock"]);
  step.torch = torch_from(value["torch"]);
  step.torch_version = value["torch_version"].text_or();
  step.torch_cuda = value["torch_cuda"].text_or();
  step.torch_hip = value["torch_hip"].text_or();
  step.cc = value["cc"].text_or();
  step.cxx = value["cxx"].text_or();
  step.compiler_family = value["compiler_family"].text_or();
  step.cuda_root = value["cuda_root"].text_or();
  step.registry_cuda = value["registry_cuda"].text_or();
  step.cuda_version = value["cuda_version"].text_or();
  step.rocm_root = value["rocm_root"].text_or();
  step.registry_rocm = value["registry_rocm"].text_or();
  step.rocm_version = value["rocm_version"].text_or();
  step.rocm_index = value["rocm_index"].text_or();
  step.rocm_lock = env::Lock::from_value(value["rocm_lock"]);
  step.rocm_clang = value["rocm_clang"].text_or();
  step.rocm_device_libraries = value["rocm_device_libraries"].text_or();
  for (const auto& [name, path] : pairs(value["programs"])) step.programs[name] = path;
  step.environment = pairs(value["environment"]);
  step.volatile_environment = pairs(value["volatile_environment"]);
  step.config = pairs(value["config"]);
  step.options = value["options"].texts();
  step.platform = value["platform"].text_or();
  step.build_type = value["build_type"].text_or();
  step.network = value["network"].boolean_or(false);
  step.verbose = value["verbose"].boolean_or(false);
  step.uncacheable = value["uncacheable"].boolean_or(false);
  step.manifest = store::Manifest::from_value(value["manifest"]);
  step.key = value["key"].text_or();
  step.needs = value["needs"].texts();
  step.companions = value["companions"].texts();
  step.optional = value["optional"].texts();
  step.reason = value["reason"].text_or();
  step.forecast = forecast_from(value["forecast"]);
  return step;
}

const Step* Plan::find(std::string_view id) const {
  for (const Step& step : steps) {
    if (step.id == id) return &step;
  }
  return nullptr;
}

}  // namespace wheelsmith::plan
