#include "report/store.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "document/finding_value.h"
#include "report/json_document.h"

namespace wheelsmith::report {

namespace {

using document::Array;
using document::Table;

std::uint64_t total_bytes(const store::Store::Stats& stats) {
  std::uint64_t bytes = 0;
  for (const auto& part : stats.parts) bytes += part.bytes;
  return bytes;
}

}  // namespace

std::string store_stats_text(const std::filesystem::path& root, const store::Store::Stats& stats, const Style& style) {
  std::string text = style.bold(printable(root.string())) + "\n";
  for (const auto& part : stats.parts)
    text += fmt::format("  {}{}{}\n", pad_right(part.name, 14), pad_right(human_bytes(part.bytes), 12),
                        counted(part.files, "file"));
  return text + fmt::format("{} in all; {}\n", human_bytes(total_bytes(stats)), counted(stats.steps, "finished step"));
}

std::string store_stats_json(const std::filesystem::path& root, const store::Store::Stats& stats) {
  Table document = new_document();
  document["root"] = root.string();
  document["steps"] = stats.steps;
  document["bytes"] = total_bytes(stats);
  Array parts;
  for (const auto& part : stats.parts) {
    Table item;
    item["name"] = part.name;
    item["files"] = part.files;
    item["bytes"] = part.bytes;
    parts.emplace_back(std::move(item));
  }
  document["parts"] = std::move(parts);
  return document_text(document);
}

bool VerifiedStore::is_good() const {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.severity == Severity::error; });
}

std::string verified_store_text(const VerifiedStore& store, const Style& style) {
  std::string text;
  for (const Finding& finding : store.findings) {
    const std::string word(to_string(finding.severity));
    text += fmt::format("{} {} {}: {}\n", finding.severity == Severity::error ? style.red(word) : style.yellow(word),
                        finding.id, printable(finding.subject), style.wrap(printable(finding.what), 4));
    if (!finding.fix.empty()) text += fmt::format("    fix: {}\n", style.wrap(printable(finding.fix), 10));
  }
  return text + fmt::format("{} {}\n", store.is_good() ? style.green("good") : style.red("bad"),
                            printable(store.root.string()));
}

std::string verified_store_json(const VerifiedStore& store) {
  Table document = new_document();
  document["root"] = store.root.string();
  document["verdict"] = store.is_good() ? "good" : "bad";
  Array items;
  for (const Finding& finding : store.findings) items.push_back(document::to_value(finding));
  document["findings"] = std::move(items);
  return document_text(document);
}

std::string collected_text(const Collected& collected) {
  std::string text;
  for (const std::string& name : collected.removed) text += printable(name) + "\n";
  return text + fmt::format("{} {}\n", human_bytes(collected.bytes), collected.dry_run ? "would be freed" : "freed");
}

std::string collected_json(const Collected& collected) {
  Table document = new_document();
  document["bytes"] = collected.bytes;
  document["dry_run"] = collected.dry_run;
  document["removed"] = text_array(collected.removed);
  return document_text(document);
}

}  // namespace wheelsmith::report
