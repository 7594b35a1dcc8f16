#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"
#include "recipe/recipe.h"
#include "recipe/when.h"

// Facts about packages, read from src/recipe/data/facts (docs/facts.md): what the recipes are compared with.

namespace wheelsmith::recipe {

struct Fact {
  Condition condition;
  std::vector<std::string> variants, targets;  // empty: all
  document::Value values;                      // the table itself
  std::string where;                           // "vllm.toml:12 (CMakeLists.txt)"

  [[nodiscard]] bool holds(Variant variant, const std::string& target, const Conditions& conditions) const;
};

struct PackageFacts {
  std::string recipe, prefix;
  std::vector<std::string> tags;
  std::vector<std::string> ahead;  // versions of the main branch that was read: compared, but not yet checked releases
  // What is tried besides, each alone.
  std::vector<std::string> cuda, rocm, compilers, machines, torch, build_types, needs;
  std::map<std::string, std::vector<std::string>> archs;  // by variant
  std::vector<std::map<std::string, std::string>> settings;
  std::map<std::string, std::vector<std::string>> published;  // tag of which only this is known -> MAJOR.MINOR of torch
  std::vector<Fact> facts;

  [[nodiscard]] std::string version(const std::string& tag) const { return tag.substr(prefix.size()); }
};

// Throws Error for keys that are not known and facts that do not say where they come from.
PackageFacts read_facts(std::string_view toml, const std::string& file_name);
// All files, and the patterns of variables that tools read whatever the package.
std::vector<PackageFacts> all_facts();
std::vector<std::string> variables_of_tools();

}  // namespace wheelsmith::recipe
