// Core metadata: which fields are allowed, and how often. The severity depends on the consequence: an error if pip or
// uv refuse to install the wheel or a package index rejects it; a warning if it works today only because readers are
// lenient; a note for a habit of old tools. One habit is so common that it is only a note: setuptools wrote
// License-File into Metadata-Version 2.1 for years.

#include "pep/metadata/metadata_check.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>

#include "base/text.h"
#include "pep/requirement.h"
#include "pep/scanner.h"
#include "pep/version.h"

namespace wheelsmith::pep {

namespace {

constexpr int k_newest = 25;

constexpr std::array<MetadataField, 34> k_fields = {{
    {"Metadata-Version", 10, false},
    {"Name", 10, false},
    {"Version", 10, false},
    {"Platform", 10, true},
    {"Summary", 10, false},
    {"Description", 10, false},
    {"Keywords", 10, false},
    {"Home-page", 10, false},
    {"Author", 10, false},
    {"Author-email", 10, false},
    {"License", 10, false},
    {"Supported-Platform", 11, true},
    {"Download-URL", 11, false},
    {"Classifier", 11, true},
    {"Requires", 11, true},
    {"Provides", 11, true},
    {"Obsoletes", 11, true},
    {"Maintainer", 12, false},
    {"Maintainer-email", 12, false},
    {"Requires-Dist", 12, true},
    {"Requires-Python", 12, false},
    {"Requires-External", 12, true},
    {"Provides-Dist", 12, true},
    {"Obsoletes-Dist", 12, true},
    {"Project-URL", 12, true},
    {"Description-Content-Type", 20, false},
    {"Provides-Extra", 20, true},
    {"Dynamic", 22, true},
    {"License-Expression", 24, false},
    {"License-File", 24, true},
    {"Import-Name", 25, true},
    {"Import-Namespace", 25, true},
    // Withdrawn drafts of 2.0, whose fields occur in wheels of that time.
    {"Setup-Requires-Dist", 20, true},
    {"Private-Version", 20, false},
}};

// "2.1" is 21; nothing if it is not such a number.
std::optional<int> to_version_number(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  if (parts.size() != 2) return std::nullopt;
  const auto major = to_number(parts[0]);
  const auto minor = to_number(parts[1]);
  if (!major || !minor || *major > 9 || *minor > 9) return std::nullopt;
  return static_cast<int>(*major * 10 + *minor);
}

// Returns the version whose rules apply to the other fields.
int check_metadata_version(const Headers& metadata, MetadataReport& report) {
  const std::string text(trim(metadata.get("Metadata-Version")));
  if (text.empty()) {
    report.add(Severity::error, "metadata-version-missing", "there is no Metadata-Version field",
               "pip and uv reject the wheel", "write the file with a current build backend");
    return k_newest;
  }
  const std::optional<int> version = to_version_number(text);
  if (!version || *version < 10 || *version >= 30) {
    report.add(Severity::error, "metadata-version-unknown",
               fmt::format("Metadata-Version is {}, which does not exist", quoted_text(text)),
               "uv and PyPI reject an unknown major version", "write the file with a current build backend");
    return k_newest;
  }
  if (*version > k_newest) {
    report.add(Severity::warning, "metadata-version-newer",
               fmt::format("Metadata-Version {} is newer than 2.5, the newest supported by this Wheelsmith", text),
               "older installers warn, and package indexes that do not support it reject the upload",
               "check with a newer Wheelsmith, or write an older Metadata-Version");
    return *version;
  }
  if (*version == 20 || (*version > 12 && *version < 20)) {
    report.add(Severity::warning, "metadata-version-withdrawn",
               fmt::format("Metadata-Version {} was never accepted", text),
               "pip installs it, but PyPI rejects the upload", "write the file with a current build backend");
  }
  return *version;
}

void check_identity(const Headers& metadata, MetadataReport& report) {
  const std::string name(trim(metadata.get("Name")));
  if (!is_valid_name(name)) {
    report.add(Severity::error, "metadata-name",
               name.empty() ? std::string("there is no Name field")
                            : fmt::format("the Name {} is not a valid project name", quoted_text(name)),
               "pip and uv reject the wheel",
               "use letters, digits, \"-\", \"_\" and \".\", starting and ending with a letter or digit");
  }
  const std::string version(trim(metadata.get("Version")));
  if (!Version::try_parse(version)) {
    report.add(Severity::error, "metadata-version",
               version.empty() ? std::string("there is no Version field")
                               : fmt::format("the Version {} is not a valid PEP 440 version", quoted_text(version)),
               "pip and uv reject the wheel", "give the project a version such as 1.2.0 or 1.2.0+cu130");
  }
}

void check_early_field(const MetadataField& field, int version, MetadataReport& report) {
  report.add(field.name == "License-File" ? Severity::note : Severity::warning, "metadata-field-too-new",
             fmt::format("{} is a field of Metadata-Version {}.{}, but the file says {}.{}", field.name,
                         field.since / 10, field.since % 10, version / 10, version % 10),
             "readers that follow the version ignore the field, and package indexes may reject the upload",
             fmt::format("raise Metadata-Version to {}.{}", field.since / 10, field.since % 10));
}

void check_unknown_field(const std::string& name, MetadataReport& report) {
  std::vector<std::string> known;
  for (const MetadataField& field : k_fields) known.emplace_back(field.name);
  // A name of many kilobytes is not a misspelling, and comparing it takes time proportional to its length for each
  // candidate.
  const std::optional<std::string> meant = name.size() < 64 ? nearest(name, known) : std::nullopt;
  report.add(Severity::warning, "metadata-field-unknown", fmt::format("the field {} is not defined", quoted_text(name)),
             "installers ignore it, and package indexes may reject the upload",
             meant ? fmt::format("did you mean {}?", *meant) : "remove it");
}

void check_fields(const Headers& metadata, int version, MetadataReport& report) {
  std::map<std::string, int> counts;
  std::map<std::string, int> unknown;
  for (const auto& entry : metadata.fields) {
    const MetadataField* field = find_metadata_field(entry.first);
    if (field == nullptr) {
      // Limits the output for a file with a million unknown fields.
      if (++unknown[to_lower(entry.first)] == 1 && unknown.size() <= 20) check_unknown_field(entry.first, report);
      continue;
    }
    const int count = ++counts[std::string(field->name)];
    if (count == 1 && field->since > version) check_early_field(*field, version, report);
    if (count == 2 && !field->repeats) {
      report.add(Severity::error, "metadata-field-repeated", fmt::format("{} may occur only once", field->name),
                 "readers disagree on which value to use, and PyPI rejects the upload", "keep one of them");
    }
  }
}

void check_encoding(const Headers& metadata, MetadataReport& report) {
  if (metadata.has_byte_order_mark) {
    report.add(Severity::error, "metadata-byte-order-mark", "the file begins with a byte order mark",
               "pip reads everything as the description and finds no fields",
               "save the file as UTF-8 without the mark");
  }
  for (const auto& [name, value] : metadata.fields) {
    if (is_valid_utf8(value)) continue;
    report.add(Severity::error, "metadata-not-utf-8", fmt::format("the value of {} is not UTF-8", name),
               "uv and PyPI reject the wheel, and pip shows replacement characters", "write the file as UTF-8");
    return;
  }
  if (!is_valid_utf8(metadata.body)) {
    report.add(Severity::error, "metadata-not-utf-8", "the description is not UTF-8", "PyPI rejects the upload",
               "save the README as UTF-8 and rebuild");
  }
}

}  // namespace

const MetadataField* find_metadata_field(std::string_view name) {
  static const auto k_by_name = [] {
    std::map<std::string, const MetadataField*, std::less<>> fields;
    for (const MetadataField& field : k_fields) fields.emplace(to_lower(field.name), &field);
    return fields;
  }();
  const auto found = k_by_name.find(to_lower(name));
  return found != k_by_name.end() ? found->second : nullptr;
}

std::vector<Finding> check_metadata(const Headers& metadata, const std::string& subject) {
  MetadataReport report{subject, {}};
  check_encoding(metadata, report);
  const int version = check_metadata_version(metadata, report);
  check_identity(metadata, report);
  check_fields(metadata, version, report);
  check_dependencies(metadata, version, report);
  check_values(metadata, version, report);
  return std::move(report.findings);
}

}  // namespace wheelsmith::pep
