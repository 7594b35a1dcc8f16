// Every variant wheel contains a variant.json with its own variant only; installers need all variants of a version in
// one file. All dialects (PEP 817's, PEP 825's, PEP 850's) are tables of tables and lists, and merge alike: tables
// member by member; of two lists the longer one when it begins with the shorter (the order of namespaces may only be
// continued); anything else must be equal. A label stands for one set of properties, so nothing below "variants" is
// merged.

#include "index/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "document/value.h"
#include "pep/wheel_name.h"

namespace wheelsmith::index {

namespace {

using document::Array;
using document::Table;
using document::Value;

// False if they contradict each other; `into` then keeps its value.
bool merge(Value& into, const Value& other, bool below_variants, std::string& where, const std::string& key) {
  if (into == other) return true;
  if (Table* table = into.table(); table != nullptr && other.table() != nullptr && !below_variants) {
    bool good = true;
    for (const auto& [name, value] : *other.table()) {
      if (table->find(name) == nullptr) {
        (*table)[name] = value;
      } else {
        good = merge((*table)[name], value, key == "variants", where, name) && good;
      }
    }
    return good;
  }
  if (const Array* list = into.array(); list != nullptr && other.array() != nullptr && !below_variants) {
    const Array& shorter = list->size() < other.array()->size() ? *list : *other.array();
    const Array& longer = list->size() < other.array()->size() ? *other.array() : *list;
    if (std::equal(shorter.begin(), shorter.end(), longer.begin())) {
      into = Value(Array(longer));
      return true;
    }
  }
  where = key;
  return false;
}

}  // namespace

std::vector<VariantsFile> make_variants(const Project& project, std::vector<Finding>* findings) {
  std::map<std::string, std::vector<const File*>> versions;
  for (const File* file : project.files) {
    if (!file->facts.variant.empty()) versions[file->parts.version].push_back(file);
  }
  std::vector<VariantsFile> result;
  for (auto& [version, files] : versions) {
    std::sort(files.begin(), files.end(), [](const File* a, const File* b) { return a->name < b->name; });
    Value merged = document::parse_json(files.front()->facts.variant, "variant.json");
    for (const File* file : files) {
      std::string where;
      if (merge(merged, document::parse_json(file->facts.variant, "variant.json"), false, where, "") ||
          findings == nullptr)
        continue;
      findings->push_back(
          {"index-variants-differ", Severity::error, printable(file->path()),
           printable(fmt::format("its variant.json and that of another wheel of {} {} disagree on \"{}\"", project.name,
                                 version, where)),
           "installers read one merged file to select a variant",
           "build all variants of a version with one set of priorities and properties"});
    }
    result.push_back({fmt::format("{}-{}-variants.json", pep::escaped_name(project.name), version), version,
                      document::canonical_json(merged) + "\n"});
  }
  return result;
}

}  // namespace wheelsmith::index
