#include "report/wheel/surgery.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/json_document.h"

namespace wheelsmith::report {

std::string surgery_text(const surgery::Item& item) {
  std::string text;
  for (const surgery::Output& output : item.outputs) {
    text += fmt::format("{}{} ({}, input {})\n", item.dry_run ? "would write " : "", printable(output.path),
                        human_bytes(output.bytes), human_bytes(item.before_bytes));
    for (const std::string& property : output.properties) text += fmt::format("  {}\n", printable(property));
  }
  for (const std::string& note : item.notes) text += fmt::format("  note: {}\n", printable(note));
  return text;
}

std::string surgery_json(const std::vector<surgery::Item>& items) {
  document::Array list;
  for (const surgery::Item& item : items) {
    document::Table entry;
    entry["path"] = item.path;
    if (!item.error.empty()) entry["error"] = item.error;
    document::Array outputs;
    for (const surgery::Output& output : item.outputs) {
      document::Table made;
      made["path"] = output.path;
      made["sha256"] = output.sha256;
      made["bytes"] = output.bytes;
      made["tags"] = text_array(output.tags);
      if (!output.label.empty()) {
        made["label"] = output.label;
        made["properties"] = text_array(output.properties);
      }
      outputs.emplace_back(std::move(made));
    }
    entry["outputs"] = std::move(outputs);
    entry["before_bytes"] = item.before_bytes;
    entry["after_bytes"] = item.after_bytes;
    entry["dry_run"] = item.dry_run;
    entry["notes"] = text_array(item.notes);
    list.emplace_back(std::move(entry));
  }
  document::Table document = new_document();
  document["items"] = std::move(list);
  return document_text(document);
}

}  // namespace wheelsmith::report
