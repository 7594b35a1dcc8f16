#include "report/wheel/surgery.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/json_document.h"

namespace wheelsmith::report {

namespace {

std::string code_name(const gpu::CodeChange& change) {
  std::string name = gpu::display_name(change.arch, change.kind);
  if (change.kind == gpu::CodeKind::ltoir) name += " LTO IR";
  return name;
}

// Sizes by file and architecture, before and after.
std::string slim_table(const std::vector<surgery::SlimmedFile>& files) {
  if (files.empty()) return "";
  std::string text = fmt::format("  {:<40} {:>10} {:>10}\n", "file, architecture", "before", "after");
  for (const surgery::SlimmedFile& file : files) {
    const bool dropped = file.after_bytes == 0;
    text += fmt::format("  {:<40} {:>10} {:>10}\n", printable(file.path), human_bytes(file.before_bytes),
                        dropped ? "dropped" : human_bytes(file.after_bytes));
    for (const gpu::CodeChange& change : file.code) {
      std::string name = code_name(change);
      if (change.section == "__nv_relfatbin") name += " (relocatable)";
      text += fmt::format("    {:<38} {:>10} {:>10}\n", name, human_bytes(change.bytes),
                          change.kept_count == 0 ? "-" : human_bytes(change.kept_bytes));
    }
  }
  return text;
}

document::Array slim_files(const std::vector<surgery::SlimmedFile>& files) {
  document::Array list;
  for (const surgery::SlimmedFile& file : files) {
    document::Table entry;
    entry["path"] = file.path;
    entry["before_bytes"] = file.before_bytes;
    entry["after_bytes"] = file.after_bytes;
    document::Array code;
    for (const gpu::CodeChange& change : file.code) {
      document::Table row;
      row["arch"] = gpu::display_name(change.arch, change.kind);
      row["kind"] = std::string(gpu::to_string(change.kind));
      row["section"] = change.section;
      row["before_count"] = change.count;
      row["before_bytes"] = change.bytes;
      row["after_count"] = change.kept_count;
      row["after_bytes"] = change.kept_bytes;
      code.emplace_back(std::move(row));
    }
    entry["gpu"] = std::move(code);
    list.emplace_back(std::move(entry));
  }
  return list;
}

}  // namespace

std::string surgery_text(const surgery::Item& item) {
  std::string text;
  for (const surgery::Output& output : item.outputs) {
    text += fmt::format("{}{} ({}, input {})\n", item.dry_run ? "would write " : "", printable(output.path),
                        human_bytes(output.bytes), human_bytes(item.before_bytes));
    for (const std::string& property : output.properties) text += fmt::format("  {}\n", printable(property));
  }
  text += slim_table(item.files);
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
    if (!item.files.empty()) entry["files"] = slim_files(item.files);
    list.emplace_back(std::move(entry));
  }
  document::Table document = new_document();
  document["items"] = std::move(list);
  return document_text(document);
}

}  // namespace wheelsmith::report
