#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rocm/artifacts.h"

// Which artifacts make up which package is data: src/rocm/data/packages.toml.

namespace wheelsmith::rocm {

enum class Targets : std::uint8_t { any, generic, own, generic_own };

struct Take {
  std::vector<std::string> names;
  std::vector<std::string> components;
  Targets targets = Targets::any;

  // `own` is the package's family or ISA, "" for a package that has none.
  [[nodiscard]] bool takes(const ArtifactName& artifact, const std::string& own) const;
};

// A folder of another package: "core:lib/llvm/lib".
struct Searched {
  std::string package, folder;
};

struct PackageRow {
  enum class Kind : std::uint8_t { runtime, device, devel } kind = Kind::runtime;
  enum class ForEach : std::uint8_t { once, family, isa } for_each = ForEach::once;
  std::string name;                  // the logical one: core, libraries, device, devel, profiler
  bool kpack = true, family = true;  // the modes that have it
  bool required = false;             // packaging fails without artifacts for it
  std::vector<Take> take;
  std::vector<std::string> only;      // if any, a path must match one
  std::vector<std::string> excluded;  // and none of these
  std::vector<Searched> search;
  std::vector<std::string> unversioned;

  [[nodiscard]] bool takes(const ArtifactName& artifact, const std::string& own) const;
  [[nodiscard]] bool holds(std::string_view path) const;
};

// The rows of one mode, in the order of the table. Throws Error for a table that is wrong.
std::vector<PackageRow> package_table(std::string_view toml, std::string_view file_name, bool kpack);
std::vector<PackageRow> package_table(bool kpack);  // ours
// What the table says about files that two artifacts have.
std::vector<ConflictRule> conflict_rules(std::string_view toml, std::string_view file_name);
std::vector<ConflictRule> conflict_rules();  // ours

// The pattern language of the artifacts' descriptors: "**/" and "/**/" any number of folders, a trailing "/**" the
// folder and all below, '*' anything and '?' one character, both inside one name. The whole path must match.
bool path_matches(std::string_view pattern, std::string_view path);

}  // namespace wheelsmith::rocm
