#include "attest/statement.h"

#include <fmt/format.h>

#include "attest/sbom.h"
#include "base/hash.h"
#include "base/text.h"

namespace wheelsmith::attest {

namespace {

using document::Array;
using document::Table;
using document::Value;

constexpr std::size_t k_most_differences = 20;

void copy_members(Table& into, const Value& from, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (!from[name].is_null()) into[name] = from[name];
  }
}

Table digest_table(std::string_view algorithm, const std::string& value) {
  Table table;
  table[algorithm] = value;
  return table;
}

// ResourceDescriptor of in-toto.
Table resource(const std::string& name, const std::string& uri, Table digest) {
  Table table;
  if (!name.empty()) table["name"] = name;
  if (!uri.empty()) table["uri"] = uri;
  table["digest"] = std::move(digest);
  return table;
}

Table repository(const std::string& name, const std::string& url, const std::string& commit) {
  return resource(name, url.empty() ? "" : fmt::format("git+{}@{}", url, commit), digest_table("gitCommit", commit));
}

void add_source(Array& dependencies, const Value& provenance, const std::string& project, const std::string& version) {
  const Value& source = provenance["source"];
  const std::string commit = source["commit"].text_or(), digest = source["digest"].text_or();
  if (!commit.empty()) dependencies.emplace_back(repository("source", source["url"].text_or(), commit));
  if (digest.starts_with("sha256:"))
    dependencies.emplace_back(
        resource("source", pypi_purl(project, version), digest_table("sha256", digest.substr(7))));
  // Of a folder: a digest over its files, by the rule that docs/provenance.md states.
  if (digest.starts_with("tree:"))
    dependencies.emplace_back(resource("source folder", "", digest_table("wheelsmithTree", digest.substr(5))));
  if (const Array* submodules = source["submodules"].array()) {
    for (const Value& one : *submodules)
      dependencies.emplace_back(
          repository("submodule " + one["path"].text_or(), one["url"].text_or(), one["commit"].text_or()));
  }
}

Array dependencies_of(const CarriedFiles& files, const std::string& project, const std::string& version) {
  const Value& provenance = files.provenance;
  Array dependencies;
  add_source(dependencies, provenance, project, version);
  if (const Array* patches = provenance["patches"].array()) {
    for (const Value& patch : *patches)
      dependencies.emplace_back(
          resource("patch " + patch["name"].text_or(), "", digest_table("sha256", patch["sha256"].text_or())));
  }
  if (const Array* wheels = provenance["build_requirements"].array()) {
    for (const Value& wheel : *wheels)
      dependencies.emplace_back(resource(wheel["file"].text_or(wheel["name"].text_or()),
                                         pypi_purl(wheel["name"].text_or(), wheel["version"].text_or()),
                                         digest_table("sha256", wheel["sha256"].text_or())));
  }
  const std::string image = provenance["container"]["id"].text_or();
  if (image.starts_with("sha256:"))
    dependencies.emplace_back(resource("container image", "", digest_table("sha256", image.substr(7))));
  return dependencies;
}

// Variables that the user set, if the wheel contains them: the inputs of the key hold only their digests.
Table user_variables(const CarriedFiles& files) {
  Table variables;
  if (!files.build) return variables;
  const Value& spec = (*files.build)["spec"];
  const Array* inputs = spec["manifest"]["inputs"].array();
  const Array* fixed = spec["variables"]["fixed"].array();
  if (inputs == nullptr || fixed == nullptr) return variables;
  const auto pair_of = [](const Value& value) -> std::pair<std::string, std::string> {
    const std::vector<std::string> texts = value.texts();
    return texts.size() == 2 ? std::pair(texts[0], texts[1]) : std::pair<std::string, std::string>();
  };
  for (const Value& input : *inputs) {
    const auto [name, value] = pair_of(input);
    const bool hashed = value.starts_with("sha256 ") || value == "(hidden)";
    if (!name.starts_with("env:") || !hashed) continue;
    for (const Value& one : *fixed) {
      const auto [variable, text] = pair_of(one);
      if (variable == name.substr(4)) variables[variable] = text;
    }
  }
  return variables;
}

Table external_parameters(const CarriedFiles& files) {
  const Value& provenance = files.provenance;
  Table parameters;
  Table recipe;
  recipe["name"] = provenance["recipe"];
  recipe["sha256"] = to_hex(sha256(Bytes(files.recipe)));
  parameters["recipe"] = std::move(recipe);
  copy_members(parameters, provenance,
               {"variant", "target", "archs", "build_type", "source", "python", "torch", "container", "incremental"});
  if (files.build) {
    const std::string platform = (*files.build)["spec"]["platform"].text_or();
    if (!platform.empty()) parameters["platform"] = platform;
  }
  if (Table variables = user_variables(files); !variables.empty()) parameters["variables"] = std::move(variables);
  return parameters;
}

Table internal_parameters(const Value& provenance) {
  Table parameters;
  copy_members(parameters, provenance,
               {"key", "network", "sandbox", "compiler", "cuda", "rocm", "built_against", "tools", "installed"});
  return parameters;
}

Table run_details(const CarriedFiles& files) {
  Table builder;
  builder["id"] = k_builder_id;
  const std::string program = files.provenance["builder"].text_or();
  Table version;
  const std::size_t blank = program.find(' ');
  version[program.substr(0, blank)] = blank == std::string::npos ? "" : program.substr(blank + 1);
  builder["version"] = std::move(version);
  Table metadata;
  metadata["invocationId"] = files.provenance["key"];
  Table details;
  details["builder"] = std::move(builder);
  details["metadata"] = std::move(metadata);
  if (files.sbom) {
    Table sbom = resource(fmt::format("{}/{}", files.dist_info, k_sbom_name), "",
                          digest_table("sha256", to_hex(sha256(Bytes(*files.sbom)))));
    sbom["mediaType"] = "application/vnd.cyclonedx+json";
    details["byproducts"] = Array{sbom};
  }
  return details;
}

std::string shown(const Value& value) {
  if (value.is_null()) return "nothing";
  std::string text = document::to_json(value, -1);
  if (text.size() > 200) text = text.substr(0, 200) + "…";
  return printable(text);
}

void compare(const Value& found, const Value& wanted, const std::string& where, std::vector<std::string>& problems) {
  if (found == wanted || problems.size() >= k_most_differences) return;
  if (found.table() == nullptr || wanted.table() == nullptr) {
    problems.push_back(fmt::format("{}: the statement says {}, the wheel says {}", where, shown(found), shown(wanted)));
    return;
  }
  for (const auto& [name, value] : *wanted.table())
    compare(found[name], value, where + "." + printable(name), problems);
  for (const auto& [name, value] : *found.table()) {
    if (wanted.table()->find(name) == nullptr) compare(value, Value(), where + "." + printable(name), problems);
  }
}

}  // namespace

document::Value make_statement(const std::string& file_name, const std::string& sha256, const CarriedFiles& files) {
  const std::size_t name_end = std::min(file_name.find('-'), file_name.size());
  const std::size_t version_end = std::min(file_name.find('-', name_end + 1), file_name.size());
  const std::string project = file_name.substr(0, name_end);
  const std::string version =
      name_end < file_name.size() ? file_name.substr(name_end + 1, version_end - name_end - 1) : "";
  Table definition;
  definition["buildType"] = k_build_type;
  definition["externalParameters"] = external_parameters(files);
  definition["internalParameters"] = internal_parameters(files.provenance);
  definition["resolvedDependencies"] = dependencies_of(files, project, version);
  Table predicate;
  predicate["buildDefinition"] = std::move(definition);
  predicate["runDetails"] = run_details(files);
  Table statement;
  statement["_type"] = k_statement_type;
  statement["subject"] = Array{resource(file_name, "", digest_table("sha256", sha256))};
  statement["predicateType"] = k_provenance_type;
  statement["predicate"] = std::move(predicate);
  return statement;
}

std::vector<std::string> compare_statement(const document::Value& statement, const std::string& file_name,
                                           const std::string& sha256, const CarriedFiles& files) {
  std::vector<std::string> problems;
  if (statement.table() == nullptr) return {"the statement is not a JSON object"};
  const Array* subjects = statement["subject"].array();
  const Value subject = subjects != nullptr && subjects->size() == 1 ? subjects->front() : Value();
  if (subject["digest"]["sha256"].text_or() != sha256)
    return {fmt::format("the statement is about another file: its subject has SHA-256 {}, the wheel has {}",
                        shown(subject["digest"]["sha256"]), sha256)};
  compare(statement, make_statement(file_name, sha256, files), "statement", problems);
  return problems;
}

}  // namespace wheelsmith::attest
