#include "report/wheel/elf.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/json_document.h"

namespace wheelsmith::report {

std::string edited_files_text(const std::vector<EditedFile>& files) {
  std::string text;
  for (const EditedFile& file : files) {
    if (!file.error.empty()) continue;
    const std::string path = printable(file.path);
    if (!file.changed)
      text += fmt::format("{}: unchanged\n", path);
    else if (file.size == file.old_size)
      text += fmt::format("{}: edited in place\n", path);
    else
      text += fmt::format("{}: edited, {} larger\n", path, counted(file.size - file.old_size, "byte"));
  }
  return text;
}

std::string edited_files_json(const std::vector<EditedFile>& files) {
  document::Array items;
  for (const EditedFile& file : files) {
    document::Table item;
    item["path"] = file.path;
    if (file.error.empty()) {
      item["changed"] = file.changed;
      item["size"] = file.size;
    } else {
      item["error"] = file.error;
    }
    items.emplace_back(std::move(item));
  }
  document::Table document = new_document();
  document["items"] = std::move(items);
  return document_text(document);
}

std::string proof_text(const std::vector<std::string>& differences) {
  if (differences.empty()) return "the same program\n";
  std::string text;
  for (const std::string& difference : differences) text += printable(difference) + "\n";
  return text;
}

std::string proof_json(const std::vector<std::string>& differences) {
  document::Table document = new_document();
  document["differences"] = text_array(differences);
  return document_text(document);
}

}  // namespace wheelsmith::report
