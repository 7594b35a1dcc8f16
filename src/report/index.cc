#include "report/index.h"

#include <fmt/format.h>

#include "base/text.h"
#include "document/finding_value.h"
#include "report/json_document.h"

namespace wheelsmith::report {

namespace {

using document::Array;
using document::Table;

// Shows only the first few without --all: a folder may have thousands of broken files.
std::string index_findings(const std::vector<Finding>& findings, const Style& style) {
  constexpr std::size_t k_most = 20;
  std::string text;
  std::size_t shown = 0;
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::note && !style.details) continue;
    if (++shown > k_most && !style.details) continue;
    const std::string severity = finding.severity == Severity::error ? style.red("error") : style.yellow("warning");
    text += fmt::format("{} {}: {}\n  {}; {}\n", finding.severity == Severity::note ? "note" : severity,
                        finding.subject, finding.what, finding.why, finding.fix);
  }
  if (shown > k_most && !style.details) text += fmt::format("… {} more; --all shows them\n", shown - k_most);
  return text;
}

}  // namespace

std::string published_text(const index::Published& published, const Style& style) {
  const index::Published::IndexSummary& main = published.indexes.front();
  std::string text = index_findings(published.findings, style);
  text += fmt::format("{} of {}: {} hashed ({}), {} of {} pages written, {} removed\n", counted(main.files, "file"),
                      counted(main.projects, "project"), published.hashed, human_bytes(published.hashed_bytes),
                      published.written, published.pages, published.removed);
  if (published.placed != 0) text += fmt::format("  {} copied into the layout\n", counted(published.placed, "file"));
  for (const index::Published::IndexSummary& place : published.indexes) {
    if (place.place.empty()) continue;
    text += fmt::format("  {}: {} of {}\n", printable(place.place), counted(place.files, "file"),
                        counted(place.projects, "project"));
  }
  return text;
}

std::string published_json(const index::Published& published) {
  Table document = new_document();
  document["projects"] = published.indexes.front().projects;
  document["files"] = published.indexes.front().files;
  document["hashed"] = published.hashed;
  document["hashed_bytes"] = published.hashed_bytes;
  document["pages"] = published.pages;
  document["written"] = published.written;
  document["removed"] = published.removed;
  document["placed"] = published.placed;
  Array indexes;
  for (const index::Published::IndexSummary& place : published.indexes) {
    Table item;
    item["place"] = place.place;
    item["projects"] = place.projects;
    item["files"] = place.files;
    indexes.emplace_back(std::move(item));
  }
  document["indexes"] = std::move(indexes);
  Array findings;
  for (const Finding& finding : published.findings) findings.push_back(document::to_value(finding));
  document["findings"] = std::move(findings);
  return document_text(document);
}

std::string served_text(const ServedFolder& served) {
  if (served.store)
    return fmt::format("serving the store {} at {} ({}); press Ctrl+C to stop\n  wheelsmith build --store {} PACKAGE\n",
                       printable(served.folder), served.url, served.writable ? "writable with the token" : "read-only",
                       served.url);
  return fmt::format("serving {} at {} ({}); press Ctrl+C to stop\n  pip install --index-url {} PROJECT\n",
                     printable(served.folder), served.url,
                     served.live ? "pages generated in memory" : "pages written by `wheelsmith index`", served.url);
}

std::string served_json(const ServedFolder& served) {
  Table document = new_document();
  document["url"] = served.url;
  if (served.store)
    document["writable"] = served.writable;
  else
    document["pages"] = served.live ? "live" : "files";
  return document_text(document);
}

std::string access_text(const index::Access& access) {
  return fmt::format("{} {} {} {} {} {:.1f} ms\n", access.client, access.status, printable(access.method),
                     printable(access.target), human_bytes(access.size), access.seconds.count() * 1000);
}

std::string problem_json(const std::string& problem) {
  Table item;
  item["problem"] = problem;
  return document::to_json(item, -1) + "\n";
}

std::string access_json(const index::Access& access) {
  Table item;
  item["client"] = access.client;
  item["method"] = access.method;
  item["target"] = access.target;
  item["status"] = access.status;
  item["size"] = access.size;
  item["seconds"] = access.seconds.count();
  return document::to_json(item, -1) + "\n";
}

}  // namespace wheelsmith::report
