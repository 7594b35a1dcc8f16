#include "base/error.h"
#include "base/text.h"
#include "document/value.h"
#include "pep/project/project_file_list.h"
#include "pep/wheel_name.h"

namespace wheelsmith::pep {

namespace {

using document::Value;

std::optional<std::string> yanked(const Value& value) {
  if (const std::string* reason = value.text()) return *reason;
  return value.boolean_or(false) ? std::optional<std::string>("") : std::nullopt;
}

void add_file(FileList& files, const Value& entry) {
  const std::string* name = entry["filename"].text();
  const std::string* link = entry["url"].text();
  if (name == nullptr || name->empty() || link == nullptr) return;
  ProjectFile file;
  file.name = *name;
  if (const document::Table* hashes = entry["hashes"].table()) {
    for (const auto& [algorithm, value] : *hashes) {
      if (const std::string* hex = value.text()) file.hashes.emplace(to_lower(algorithm), to_lower(*hex));
    }
  }
  file.requires_python = trim(entry["requires-python"].text_or(""));
  file.yanked = yanked(entry["yanked"]);
  if (const std::int64_t* size = entry["size"].integer(); size != nullptr && *size >= 0) {
    file.size = static_cast<std::uint64_t>(*size);
  }
  file.upload_time = entry["upload-time"].text_or("");
  files.add(std::move(file), *link);
}

}  // namespace

ProjectPage parse_project_json(std::string_view json, std::string_view url) {
  const Value page = document::parse_json(json, "the project's page");
  if (page.table() == nullptr) throw Error("the project's page is JSON, but not an object");
  if (const std::string* version = page["meta"]["api-version"].text()) check_repository_version(*version);
  const document::Array* entries = page["files"].array();
  if (entries == nullptr) throw Error("the project's page is JSON, but has no list of files");
  FileList files(url);
  for (const Value& entry : *entries) add_file(files, entry);
  return {.name = normalized_name(page["name"].text_or("")), .files = files.take()};
}

}  // namespace wheelsmith::pep
