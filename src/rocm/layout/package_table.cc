#include "rocm/layout/package_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "document/table_reader.h"
#include "document/value.h"

namespace wheelsmith::rocm {

namespace data {
extern const std::string_view packages_toml;
}

namespace {

using document::Problems;
using document::TableReader;

std::string check_pattern(const std::string& pattern) {
  if (pattern.empty() || pattern.starts_with('/') || pattern.find("***") != pattern.npos)
    return "is not a valid path pattern below the install prefix";
  return "";
}

Targets read_targets(TableReader& reader, std::string_view key, Targets otherwise) {
  std::size_t which = 0;
  if (!reader.choice(key, {"any", "generic", "own", "generic-own"}, which)) return otherwise;
  return static_cast<Targets>(which);
}

Take read_take(TableReader& reader) {
  Take take;
  reader.texts("names", take.names);
  reader.texts("components", take.components);
  take.targets = read_targets(reader, "targets", Targets::any);
  return take;
}

Searched read_searched(const std::string& text) {
  const std::size_t colon = text.find(':');
  return {text.substr(0, colon), colon == text.npos ? "" : text.substr(colon + 1)};
}

std::string check_searched(const std::string& text) {
  const Searched searched = read_searched(text);
  return searched.package.empty() || searched.folder.empty() ? "is not of the form \"package:folder\"" : "";
}

// A row, and for a package of remaining files, its additional sources.
struct ReadRow {
  PackageRow row;
  std::vector<std::string> rest_of;
  Take rest;
};

ReadRow read_row(TableReader& reader) {
  ReadRow result;
  PackageRow& row = result.row;
  reader.text("name", row.name);
  std::size_t which = 0;
  if (reader.choice("kind", {"runtime", "device", "devel"}, which)) row.kind = static_cast<PackageRow::Kind>(which);
  if (reader.choice("for-each", {"once", "family", "isa"}, which))
    row.for_each = static_cast<PackageRow::ForEach>(which);
  std::vector<std::string> modes;
  if (reader.texts("modes", modes)) {
    row.kpack = is_one_of("kpack", modes);
    row.family = is_one_of("family", modes);
  }
  reader.flag("required", row.required);
  reader.each("take", [&](TableReader& inner) { row.take.push_back(read_take(inner)); });
  reader.texts("only", row.only, check_pattern);
  reader.texts("not", row.excluded, check_pattern);
  std::vector<std::string> search;
  reader.texts("search", search, check_searched);
  for (const std::string& text : search) row.search.push_back(read_searched(text));
  reader.texts("unversioned", row.unversioned, check_pattern);
  reader.texts("rest-of", result.rest_of);
  reader.texts("rest-components", result.rest.components);
  result.rest.targets = read_targets(reader, "rest-targets", Targets::generic);
  return result;
}

std::vector<ConflictRule> read_conflicts(TableReader reader) {
  std::vector<ConflictRule> rules;
  reader.each("conflict", [&](TableReader& one) {
    ConflictRule& rule = rules.emplace_back();
    one.texts("paths", rule.paths, check_pattern);
    one.text("yields", rule.yields);
    if (rule.paths.empty() || rule.yields.empty())
      one.problems().add(one.line(), "[[conflict]] needs paths, and the artifact that yields");
  });
  return rules;
}

// One name against one part of a pattern.
bool name_matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = pattern.npos, retry = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

bool path_matches(std::string_view pattern, std::string_view path) {
  const std::vector<std::string_view> parts = split(pattern, '/');
  const std::vector<std::string_view> names = split(path, '/');
  // matched[i]: the parts up to here match the first i names. "**" as the last part matches nothing too: the folder
  // itself.
  std::vector<bool> matched(names.size() + 1);
  matched[0] = true;
  for (const std::string_view part : parts) {
    std::vector<bool> next(names.size() + 1);
    for (std::size_t i = 0; i <= names.size(); ++i) {
      if (part == "**") {
        next[i] = matched[i] || (i > 0 && next[i - 1]);
      } else if (i > 0) {
        next[i] = matched[i - 1] && name_matches(part, names[i - 1]);
      }
    }
    matched = std::move(next);
  }
  return matched[names.size()];
}

bool Take::takes(const ArtifactName& artifact, const std::string& own) const {
  if (!is_one_of(artifact.name, names) || !is_one_of(artifact.component, components)) return false;
  const bool is_generic = artifact.target == "generic";
  const bool is_own = !own.empty() && (artifact.target == own || artifact.base_target() == own);
  switch (targets) {
    case Targets::any: return true;
    case Targets::generic: return is_generic;
    case Targets::own: return is_own;
    case Targets::generic_own: return is_generic || is_own;
  }
  return false;
}

bool PackageRow::takes(const ArtifactName& artifact, const std::string& own) const {
  return std::any_of(take.begin(), take.end(), [&](const Take& one) { return one.takes(artifact, own); });
}

bool PackageRow::holds(std::string_view path) const {
  const auto matches = [&](const std::string& pattern) { return path_matches(pattern, path); };
  if (!only.empty() && std::none_of(only.begin(), only.end(), matches)) return false;
  return std::none_of(excluded.begin(), excluded.end(), matches);
}

std::vector<ConflictRule> conflict_rules(std::string_view toml, std::string_view file_name) {
  const document::Table table = document::parse_toml(toml, file_name);
  Problems problems(file_name);
  std::vector<ConflictRule> rules = read_conflicts(TableReader(table, "the table", 0, problems));
  problems.throw_if_any();
  return rules;
}

std::vector<ConflictRule> conflict_rules() { return conflict_rules(data::packages_toml, "packages.toml"); }

std::vector<PackageRow> package_table(std::string_view toml, std::string_view file_name, bool kpack) {
  const document::Table table = document::parse_toml(toml, file_name);
  Problems problems(file_name);
  TableReader reader(table, "the table", 0, problems);
  std::vector<ReadRow> rows;
  reader.each("package", [&](TableReader& inner) { rows.push_back(read_row(inner)); });
  (void)reader.take("conflict");
  reader.finish();
  problems.throw_if_any();
  std::erase_if(rows, [&](const ReadRow& row) { return kpack ? !row.row.kpack : !row.row.family; });
  std::vector<PackageRow> result;
  for (ReadRow& row : rows) {
    for (const std::string& name : row.rest_of) {
      for (const ReadRow& other : rows) {
        if (other.row.name != name) continue;
        for (const Take& take : other.row.take) {
          row.rest.names.insert(row.rest.names.end(), take.names.begin(), take.names.end());
        }
      }
    }
    if (!row.rest.names.empty()) row.row.take.push_back(std::move(row.rest));
  }
  for (ReadRow& row : rows) result.push_back(std::move(row.row));
  return result;
}

std::vector<PackageRow> package_table(bool kpack) { return package_table(data::packages_toml, "packages.toml", kpack); }

}  // namespace wheelsmith::rocm
