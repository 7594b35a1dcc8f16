#include "report/wheel/bundle.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/json_document.h"

namespace wheelsmith::report {

std::string bundled_wheel_text(const bundle::BundledWheel& made) {
  const bundle::Summary& summary = made.summary;
  std::string text = fmt::format("{} ({})\n", printable(made.path.string()), human_bytes(made.size));
  for (const auto& library : summary.libraries)
    text += fmt::format("  copied {} ({}) from {}\n", printable(library.path), human_bytes(library.size),
                        printable(library.from));
  if (summary.data_files > 0)
    text += fmt::format("  copied {} data {} ({})\n", summary.data_files, summary.data_files == 1 ? "file" : "files",
                        human_bytes(summary.data_size));
  for (const std::string& member : summary.edited) text += fmt::format("  new run path: {}\n", printable(member));
  for (const std::string& requirement : summary.dropped)
    text += fmt::format("  no longer requires {}\n", printable(requirement));
  for (const std::string& name : summary.from_elsewhere)
    text += fmt::format("  still needs {} from the system or another package\n", printable(name));
  for (const std::string& note : summary.notes) text += fmt::format("  note: {}\n", printable(note));
  for (const Finding& finding : made.verdict.findings) {
    if (finding.severity == Severity::error)
      text += fmt::format("  check: {}: {}\n", printable(finding.subject), printable(finding.what));
  }
  return text;
}

std::string bundled_wheel_json(const bundle::BundledWheel& made) {
  const bundle::Summary& summary = made.summary;
  document::Table document = new_document();
  document["path"] = made.path.string();
  document["size"] = made.size;
  document::Array libraries;
  for (const auto& library : summary.libraries) {
    document::Table item;
    item["path"] = library.path;
    item["from"] = library.from;
    item["size"] = library.size;
    libraries.emplace_back(std::move(item));
  }
  document["libraries"] = std::move(libraries);
  document["data_files"] = summary.data_files;
  document["data_size"] = summary.data_size;
  document["edited"] = text_array(summary.edited);
  document["dropped_requirements"] = text_array(summary.dropped);
  document["from_elsewhere"] = text_array(summary.from_elsewhere);
  document["notes"] = text_array(summary.notes);
  document::Array errors;
  for (const Finding& finding : made.verdict.findings) {
    if (finding.severity == Severity::error) errors.emplace_back(finding.subject + ": " + finding.what);
  }
  document["errors"] = std::move(errors);
  return document_text(document);
}

}  // namespace wheelsmith::report
