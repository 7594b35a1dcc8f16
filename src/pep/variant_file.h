#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::pep {

// The drafts that define variant.json; see variant_file.cc.
enum class VariantDialect { pep817, pep825, pep850 };

std::string_view to_string(VariantDialect dialect);  // "pep825"
std::optional<VariantDialect> variant_dialect(std::string_view name);

// namespace -> feature -> values: {"nvidia": {"sm_arch": {"80_real", "90_real"}}}.
using VariantProperties = std::map<std::string, std::map<std::string, std::set<std::string>>>;
// "nvidia :: sm_arch :: 90_real", sorted.
std::vector<std::string> to_strings(const VariantProperties& properties);
// Adds "nvidia :: sm_arch :: 90_real" (blanks around "::" are optional). Throws Error if it is not a property.
void add_property(VariantProperties& properties, std::string_view text);

// The package that tells an installer which properties a machine supports (PEP 817 and 850).
struct VariantProvider {
  std::vector<std::string> requirements;
  std::string plugin_api;  // "package.module:Class"; "" for the default

  friend bool operator==(const VariantProvider&, const VariantProvider&) = default;
};

// The contents of variant.json, or of the combined {name}-{version}-variants.json of an index.
struct VariantFile {
  VariantDialect dialect = VariantDialect::pep825;
  std::vector<std::string> namespaces;  // in order of priority
  std::map<std::string, VariantProvider> providers;
  std::map<std::string, VariantProperties> variants;  // by label

  friend bool operator==(const VariantFile&, const VariantFile&) = default;
};

// The label of a wheel without properties.
inline constexpr std::string_view k_null_label = "null";
// The longest label that all dialects accept.
inline constexpr std::size_t k_longest_label = 16;
bool is_variant_label(std::string_view label);

struct VariantReading {
  VariantFile file;                   // what could be read
  std::vector<std::string> problems;  // violations of the dialect, as sentences; at most 20
};
// Never throws because of the text.
VariantReading read_variant_file(std::string_view text);

// The document in its dialect: sorted values, members in a fixed order. read_variant_file() reads it back.
std::string variant_file_text(const VariantFile& file);

}  // namespace wheelsmith::pep
