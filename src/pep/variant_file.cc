// Variant metadata. A wheel whose file name ends with a label ("-cuda13.0.whl") says in .dist-info/variant.json which
// properties a machine must have; an index serves the union of these files for each version. Three drafts define it:
//
//   PEP 825 (0.1.1)  $schema, default-priorities.namespace, variants; nothing else
//   PEP 850 (0.2.0)  adds providers: where an installer learns what a machine supports; one for each namespace
//   PEP 817 (0.0.3)  the first draft, still in published wheels: providers of another form, priorities of features and
//                    properties, static-properties at the top; labels have 16 characters at most
//
// A file names its dialect in $schema. Files of PEP 817 often do not; they have "providers" and no schema.

#include "pep/variant_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/error.h"
#include "base/text.h"
#include "document/value.h"
#include "pep/scanner.h"

namespace wheelsmith::pep {

namespace {

using document::Array;
using document::Table;
using document::Value;

constexpr std::size_t k_most_variant_problems = 20;
constexpr std::string_view k_schema_817 = "https://variants-schema.wheelnext.dev/v0.0.3.json";
constexpr std::string_view k_schema_825 = "https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json";
constexpr std::string_view k_schema_850 = "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json";
// PEP 850: properties of this namespace name versions of other packages; it has no provider and no priority.
constexpr std::string_view k_abi_dependency = "abi_dependency";

bool is_word(std::string_view text, bool dots) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || c == '_' || (dots && c == '.');
  });
}

VariantDialect dialect_of(const Value& document) {
  const std::string schema = document["$schema"].text_or();
  if (schema.find("/peps/825/") != std::string::npos) return VariantDialect::pep825;
  if (schema.find("/peps/850/") != std::string::npos || schema.find("/v0.2.") != std::string::npos)
    return VariantDialect::pep850;
  if (schema.find("/v0.0.") != std::string::npos || document["providers"].table() != nullptr)
    return VariantDialect::pep817;
  return VariantDialect::pep825;
}

class VariantReader {
 public:
  explicit VariantReader(VariantReading& result) : m_result(result) {}

  void read(const Value& document) {
    const Table* top = document.table();
    if (top == nullptr) return problem(fmt::format("it is {}, not a table", document.kind()));
    m_file.dialect = dialect_of(document);
    if (!is_pep817() && document["$schema"].text() == nullptr) problem("$schema is missing");
    static constexpr std::string_view k_keys_825[] = {"$schema", "default-priorities", "variants"};
    static constexpr std::string_view k_keys_850[] = {"$schema", "default-priorities", "variants", "providers"};
    if (m_file.dialect == VariantDialect::pep825) only_keys(*top, k_keys_825, "");
    if (m_file.dialect == VariantDialect::pep850) only_keys(*top, k_keys_850, "");
    read_priorities(document["default-priorities"]);
    if (m_file.dialect != VariantDialect::pep825) read_providers(document["providers"]);
    read_variants(document["variants"]);
  }

  void problem(std::string text) {
    if (m_result.problems.size() < k_most_variant_problems) m_result.problems.push_back(std::move(text));
  }

 private:
  [[nodiscard]] bool is_pep817() const { return m_file.dialect == VariantDialect::pep817; }

  void only_keys(const Table& table, std::span<const std::string_view> keys, std::string_view where) {
    for (const auto& [key, value] : table) {
      if (!is_one_of(key, keys))
        problem(fmt::format("{}{} is not a key of {}", where, printable(key), to_string(m_file.dialect)));
    }
  }

  // Strings of a list; each must pass `dots`. Repeated ones are a problem.
  std::vector<std::string> words(const Value& value, const std::string& where, bool dots, bool sorted) {
    const Array* list = value.array();
    if (list == nullptr || list->empty()) {
      problem(fmt::format("{} is not a list with at least one value", where));
      return {};
    }
    std::vector<std::string> result;
    for (const Value& one : *list) {
      const std::string* text = one.text();
      if (text == nullptr || !is_word(*text, dots)) {
        problem(fmt::format("{} has the invalid value {}", where,
                            text == nullptr ? std::string(one.kind()) : printable(*text)));
        continue;
      }
      result.push_back(*text);
    }
    const std::set<std::string> unique(result.begin(), result.end());
    if (unique.size() != result.size())
      problem(fmt::format("{} has a value twice", where));
    else if (sorted && !std::ranges::is_sorted(result))
      problem(fmt::format("the values of {} are not sorted", where));
    return result;
  }

  void read_priorities(const Value& value) {
    const Table* table = value.table();
    if (table == nullptr) return problem("default-priorities is missing or not a table");
    static constexpr std::string_view k_namespace[] = {"namespace"};
    static constexpr std::string_view k_all[] = {"namespace", "feature", "property"};
    if (is_pep817())
      only_keys(*table, k_all, "default-priorities.");
    else
      only_keys(*table, k_namespace, "default-priorities.");
    m_file.namespaces = words(value["namespace"], "default-priorities.namespace", false, false);
  }

  void read_providers(const Value& value) {
    const Table* table = value.table();
    if (table == nullptr) return problem("providers is missing or not a table");
    for (const auto& [name, provider] : *table) read_provider(name, provider);
    for (const std::string& name : m_file.namespaces) {
      if (!m_file.providers.contains(name)) problem(fmt::format("the namespace {} has no provider", name));
    }
    if (is_pep817()) return;
    for (const auto& [name, provider] : m_file.providers) {
      if (std::ranges::find(m_file.namespaces, name) == m_file.namespaces.end())
        problem(fmt::format("the provider {} is not in default-priorities.namespace", name));
    }
  }

  void read_provider(const std::string& name, const Value& value) {
    const std::string where = fmt::format("providers.{}", printable(name));
    const Table* table = value.table();
    if (table == nullptr || !is_word(name, false)) return problem(fmt::format("{} is not a valid provider", where));
    static constexpr std::string_view k_keys_817[] = {"requires", "plugin-api", "enable-if", "install-time",
                                                      "optional"};
    static constexpr std::string_view k_keys_850[] = {"requires",          "plugin-api",    "optional",
                                                      "static-properties", "feature-order", "builtin"};
    VariantProvider provider;
    provider.requirements = value["requires"].texts();
    provider.plugin_api = value["plugin-api"].text_or();
    if (is_pep817()) {
      only_keys(*table, k_keys_817, where + ".");
      if (value["install-time"].boolean_or(true) && table->find("requires") == nullptr)
        problem(fmt::format("{} has no \"requires\"", where));
    } else {
      only_keys(*table, k_keys_850, where + ".");
      const auto count =
          std::ranges::count_if(std::initializer_list<std::string_view>{"requires", "static-properties", "builtin"},
                                [&](std::string_view key) { return table->find(key) != nullptr; });
      if (count != 1)
        problem(fmt::format("{} must have exactly one of \"requires\", \"static-properties\" and \"builtin\"", where));
      if (table->find("requires") != nullptr && provider.requirements.empty())
        problem(fmt::format("{}.requires is not a list with at least one requirement", where));
    }
    m_file.providers.emplace(name, std::move(provider));
  }

  void read_variants(const Value& value) {
    const Table* table = value.table();
    if (table == nullptr || table->empty()) return problem("variants is missing, empty or not a table");
    for (const auto& [label, properties] : *table) {
      if (!is_variant_label(label)) {
        problem(fmt::format("the label {} is not valid", printable(label)));
        continue;
      }
      if (is_pep817() && label.size() > k_longest_label)
        problem(fmt::format("the label {} has more than {} characters", label, k_longest_label));
      VariantProperties read = read_properties(label, properties);
      if (read.empty() != (label == k_null_label))
        problem(read.empty() ? fmt::format("the variant {} has no properties; its label must be \"null\"", label)
                             : std::string("the variant \"null\" has properties"));
      m_file.variants.emplace(label, std::move(read));
    }
  }

  VariantProperties read_properties(const std::string& label, const Value& value) {
    VariantProperties result;
    const Table* spaces = value.table();
    if (spaces == nullptr) {
      problem(fmt::format("variants.{} is not a table", label));
      return result;
    }
    for (const auto& [space, features] : *spaces) {
      const std::string where = fmt::format("variants.{}.{}", label, printable(space));
      if (!is_word(space, false) || features.table() == nullptr || features.table()->empty()) {
        problem(fmt::format("{} is not a valid namespace with features", where));
        continue;
      }
      const bool free = m_file.dialect == VariantDialect::pep850 && space == k_abi_dependency;
      if (!free && std::ranges::find(m_file.namespaces, space) == m_file.namespaces.end())
        problem(fmt::format("the namespace {} is used, but not in default-priorities.namespace", space));
      for (const auto& [feature, values] : *features.table()) {
        if (!is_word(feature, false)) {
          problem(fmt::format("{} has the invalid feature {}", where, printable(feature)));
          continue;
        }
        for (std::string& word : words(values, fmt::format("{}.{}", where, feature), true, !is_pep817()))
          result[space][feature].insert(std::move(word));
      }
    }
    return result;
  }

  VariantReading& m_result;
  VariantFile& m_file = m_result.file;
};

Array texts_array(const auto& texts) {
  Array list;
  for (const std::string& text : texts) list.emplace_back(text);
  return list;
}

}  // namespace

std::string_view to_string(VariantDialect dialect) {
  switch (dialect) {
    case VariantDialect::pep817: return "pep817";
    case VariantDialect::pep825: return "pep825";
    case VariantDialect::pep850: break;
  }
  return "pep850";
}

std::optional<VariantDialect> variant_dialect(std::string_view name) {
  for (const VariantDialect dialect : {VariantDialect::pep817, VariantDialect::pep825, VariantDialect::pep850}) {
    if (name == to_string(dialect)) return dialect;
  }
  return std::nullopt;
}

std::vector<std::string> to_strings(const VariantProperties& properties) {
  std::vector<std::string> result;
  for (const auto& [space, features] : properties) {
    for (const auto& [feature, values] : features) {
      for (const std::string& value : values) result.push_back(fmt::format("{} :: {} :: {}", space, feature, value));
    }
  }
  return result;
}

void add_property(VariantProperties& properties, std::string_view text) {
  std::vector<std::string> parts;
  std::string_view rest = text;
  for (std::size_t at = rest.find("::"); at != rest.npos; at = rest.find("::")) {
    parts.emplace_back(trim(rest.substr(0, at)));
    rest.remove_prefix(at + 2);
  }
  parts.emplace_back(trim(rest));
  if (parts.size() != 3 || !is_word(parts[0], false) || !is_word(parts[1], false) || !is_word(parts[2], true))
    throw Error(
        fmt::format("{} is not a property; write \"namespace :: feature :: value\" with lower-case letters, "
                    "digits and \"_\"",
                    printable(text)));
  properties[parts[0]][parts[1]].insert(parts[2]);
}

bool is_variant_label(std::string_view label) { return is_word(label, true); }

VariantReading read_variant_file(std::string_view text) {
  VariantReading result;
  VariantReader reader(result);
  try {
    reader.read(document::parse_json(text, "variant.json"));
  } catch (const Error& error) {  // reported: a problem of the file
    reader.problem(error.what());
  }
  return result;
}

std::string variant_file_text(const VariantFile& file) {
  Table document;
  document["$schema"] = file.dialect == VariantDialect::pep817   ? k_schema_817
                        : file.dialect == VariantDialect::pep825 ? k_schema_825
                                                                 : k_schema_850;
  Table priorities;
  priorities["namespace"] = texts_array(file.namespaces);
  document["default-priorities"] = std::move(priorities);
  if (file.dialect != VariantDialect::pep825) {
    Table providers;
    for (const auto& [name, provider] : file.providers) {
      Table one;
      one["requires"] = texts_array(provider.requirements);
      if (!provider.plugin_api.empty()) one["plugin-api"] = provider.plugin_api;
      providers[name] = std::move(one);
    }
    document["providers"] = std::move(providers);
  }
  Table variants;
  for (const auto& [label, properties] : file.variants) {
    Table spaces;
    for (const auto& [space, features] : properties) {
      Table written;
      for (const auto& [feature, values] : features) written[feature] = texts_array(values);
      spaces[space] = std::move(written);
    }
    variants[label] = std::move(spaces);
  }
  document["variants"] = std::move(variants);
  return document::to_json(document) + "\n";
}

}  // namespace wheelsmith::pep
