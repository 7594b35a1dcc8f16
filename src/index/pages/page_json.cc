// PEP 691 with 700, 714, 740 and 792: version 1.4 of the API.

#include <algorithm>

#include "document/value.h"
#include "index/pages/page_parts.h"

namespace wheelsmith::index {

namespace {

using document::Array;
using document::Table;
using document::Value;

Value meta() {
  Table table;
  table["api-version"] = "1.4";
  table["_generator"] = "wheelsmith";  // keys with a leading "_" are server-specific (PEP 691)
  return table;
}

Value file_value(const Link& link) {
  Table table;
  table["filename"] = link.name;
  table["url"] = link.url;
  Table hashes;
  hashes["sha256"] = link.sha256;
  table["hashes"] = hashes;
  table["size"] = link.size;
  if (link.file == nullptr) return table;
  const File& file = *link.file;
  if (!file.upload_time.empty()) table["upload-time"] = file.upload_time;
  if (!file.facts.requires_python.empty()) table["requires-python"] = file.facts.requires_python;
  if (file.has_sidecar && !file.facts.metadata_sha256.empty()) {
    Table metadata;
    metadata["sha256"] = file.facts.metadata_sha256;
    table["core-metadata"] = metadata;
    table["dist-info-metadata"] = metadata;  // the name before PEP 714
  }
  if (!file.yanked) {
    table["yanked"] = false;
  } else {
    table["yanked"] = file.yanked->empty() ? Value(true) : Value(*file.yanked);
  }
  if (file.has_beside(".asc")) table["gpg-sig"] = true;
  table["provenance"] = file.has_provenance ? Value(link.url + ".provenance") : Value();
  return table;
}

}  // namespace

std::string project_json(const ProjectView& view) {
  Table page;
  page["meta"] = meta();
  page["name"] = view.project->name;
  if (view.status != nullptr) {
    Table status;
    status["status"] = enum_name(view.status->status);
    if (!view.status->reason.empty()) status["reason"] = view.status->reason;
    page["project-status"] = status;
  }
  Array versions;
  for (auto file = view.project->files.rbegin(); file != view.project->files.rend(); ++file) {
    if (versions.empty() || *versions.back().text() != (*file)->parts.version)
      versions.emplace_back((*file)->parts.version);
  }
  page["versions"] = std::move(versions);
  Array files;
  files.reserve(view.links.size());
  for (const Link& link : view.links) files.push_back(file_value(link));
  page["files"] = std::move(files);
  return document::to_json(page, -1) + "\n";
}

std::string root_json(const Index& index) {
  Table page;
  page["meta"] = meta();
  Array projects;
  for (const Project& project : index.projects) {
    Table item;
    item["name"] = project.name;
    projects.emplace_back(std::move(item));
  }
  page["projects"] = std::move(projects);
  return document::to_json(page, -1) + "\n";
}

}  // namespace wheelsmith::index
