#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "pep/metadata/metadata_check.h"
#include "pep/scanner.h"

namespace wheelsmith::pep {

namespace {

// Nothing, or the problem with "text/markdown; charset=UTF-8; variant=GFM".
std::string content_type_problem(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ';');
  const std::string type = to_lower(trim(parts[0]));
  if (type != "text/plain" && type != "text/x-rst" && type != "text/markdown") {
    return fmt::format("{} is not one of text/plain, text/x-rst and text/markdown", quoted_text(type));
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view parameter = trim(parts[i]);
    if (parameter.empty()) continue;
    const std::size_t equals = parameter.find('=');
    if (equals == std::string_view::npos) return fmt::format("the parameter {} has no value", quoted_text(parameter));
    const std::string name = to_lower(trim(parameter.substr(0, equals)));
    std::string_view value = trim(parameter.substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    if (name == "charset" && to_lower(value) != "utf-8") return "the charset is not UTF-8";
    if (name == "variant" && type == "text/markdown" && value != "GFM" && value != "CommonMark") {
      return fmt::format("the variant {} is neither GFM nor CommonMark", quoted_text(value));
    }
  }
  return "";
}

void check_description(const Headers& metadata, MetadataReport& report) {
  if (metadata.has("Description-Content-Type")) {
    // Old versions of setuptools wrote "UNKNOWN" for an empty value.
    const std::string type(trim(metadata.get("Description-Content-Type")));
    const std::string problem = type == "UNKNOWN" || type.empty() ? "" : content_type_problem(type);
    if (!problem.empty()) {
      report.add(Severity::error, "metadata-description-type", "Description-Content-Type: " + problem,
                 "PyPI rejects a description that it cannot render", "write text/markdown, or the type of the README");
    }
  }
  if (metadata.has("Description") && !trim(metadata.body).empty()) {
    report.add(Severity::warning, "metadata-description-twice", "there are both a Description field and a body",
               "readers disagree on which of them is the description", "keep one of them");
  }
  if (trim(metadata.get("Summary")).find('\n') != std::string_view::npos) {
    report.add(Severity::error, "metadata-summary", "the Summary has more than one line", "PyPI rejects the upload",
               "write it in one line");
  }
}

void check_project_urls(const Headers& metadata, MetadataReport& report) {
  for (const std::string& value : metadata.all("Project-URL")) {
    const std::size_t comma = value.find(',');
    const std::string_view label = trim(std::string_view(value).substr(0, comma));
    const std::string_view url = comma == std::string::npos ? "" : trim(std::string_view(value).substr(comma + 1));
    std::string problem;
    if (label.empty() || url.empty()) problem = "is not written as \"label, URL\"";
    // Continuation bytes of UTF-8 characters do not count.
    const auto length = std::count_if(label.begin(), label.end(), [](char c) { return (c & 0xc0) != 0x80; });
    if (problem.empty() && length > 32) problem = "has a label of more than 32 characters";
    if (problem.empty()) continue;
    report.add(Severity::error, "metadata-project-url",
               fmt::format("the Project-URL {} {}", quoted_text(value), problem), "PyPI rejects the upload",
               "write a label of up to 32 characters, a comma and the URL");
  }
}

void check_license(const Headers& metadata, int version, MetadataReport& report) {
  if (metadata.has("License-Expression")) {
    const std::vector<std::string> classifiers = metadata.all("Classifier");
    if (std::any_of(classifiers.begin(), classifiers.end(),
                    [](const auto& c) { return c.starts_with("License ::"); })) {
      report.add(Severity::warning, "metadata-license-classifier",
                 "there are both License classifiers and License-Expression",
                 "PEP 639 replaces the classifiers by the expression; some package indexes reject both",
                 "remove the classifiers");
    }
    if (metadata.has("License")) {
      report.add(Severity::error, "metadata-license-twice", "there are both License and License-Expression",
                 "PEP 639 tells package indexes to reject both", "remove License");
    }
  }
  // Before Metadata-Version 2.4 the field was a private habit of setuptools, and its paths were those of the sources.
  if (version < 24) return;
  for (const std::string& path : metadata.all("License-File")) {
    const std::vector<std::string_view> parts = split(path, '/');
    const bool goes_up = std::find(parts.begin(), parts.end(), "..") != parts.end();
    if (!path.empty() && !goes_up && path.front() != '/' && path.find('\\') == std::string::npos) continue;
    report.add(Severity::error, "metadata-license-file",
               fmt::format("the License-File {} is not a path below the licenses folder", quoted_text(path)),
               "installers and PyPI reject paths that are absolute or contain .. or backslashes",
               "name the file by its path inside .dist-info/licenses");
  }
}

void check_dynamic(const Headers& metadata, MetadataReport& report) {
  for (const std::string& value : metadata.all("Dynamic")) {
    const std::string name = to_lower(trim(value));
    const bool fixed = name == "name" || name == "version" || name == "metadata-version";
    if (!fixed && find_metadata_field(name) != nullptr) continue;
    report.add(
        Severity::error, "metadata-dynamic",
        fmt::format("Dynamic names {}, which {}", quoted_text(value), fixed ? "may never differ" : "is not a field"),
        "PyPI rejects the upload", "name a field of the core metadata");
  }
}

// "a.b.c", by ASCII rules; non-ASCII letters are accepted.
bool is_import_name(std::string_view text) {
  for (const std::string_view part : split(text, '.')) {
    const bool good =
        std::all_of(part.begin(), part.end(), [](char c) { return is_alnum(c) || c == '_' || (c & 0x80); });
    if (part.empty() || is_digit(part.front()) || !good) return false;
  }
  return true;
}

void check_import_names(const Headers& metadata, MetadataReport& report) {
  for (const std::string_view field : {"Import-Name", "Import-Namespace"}) {
    const std::vector<std::string> values = metadata.all(field);
    for (const std::string& value : values) {
      const std::size_t semicolon = value.find(';');
      const std::string_view name = trim(std::string_view(value).substr(0, semicolon));
      const bool private_ok = semicolon == std::string::npos || trim(value.substr(semicolon + 1)) == "private";
      // A single empty Import-Name means that there is nothing to import.
      const bool nothing = value.empty() && values.size() == 1 && field == "Import-Name";
      if (nothing || (private_ok && is_import_name(name))) continue;
      report.add(Severity::error, "metadata-import-name",
                 fmt::format("the {} {} is not valid", field, quoted_text(value)), "PyPI rejects the upload",
                 "write a dotted name, followed by \"; private\" if it is private");
    }
  }
}

}  // namespace

void check_values(const Headers& metadata, int version, MetadataReport& report) {
  check_description(metadata, report);
  check_project_urls(metadata, report);
  check_license(metadata, version, report);
  check_dynamic(metadata, report);
  check_import_names(metadata, report);
}

}  // namespace wheelsmith::pep
