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

std::string initialized_store_text(const InitializedStore& store, const Style& style) {
  std::string text = style.bold(printable(store.root.string())) + "\n";
  if (!store.shared) return text + "  used by one machine\n";
  return text + fmt::format("  shared by several machines\n  trees and environments of this machine: {}\n",
                            printable(store.local.string()));
}

std::string initialized_store_json(const InitializedStore& store) {
  Table document = new_document();
  document["root"] = store.root.string();
  document["shared"] = store.shared;
  document["local_root"] = store.local.string();
  return document_text(document);
}

std::string copied_text(const Copied& copied, const Style& style) {
  std::string text;
  std::size_t count = 0, there = 0;
  std::uint64_t bytes = 0;
  for (const CopiedStep& step : copied.steps) {
    if (!step.error.empty()) {
      text += fmt::format("{} {}: {}\n", style.red("failed"), printable(step.wheel_name), printable(step.error));
    } else if (step.was_there) {
      ++there;
    } else {
      text += fmt::format("{} {} {}\n", style.green("copied"), printable(step.wheel_name), human_bytes(step.bytes));
      ++count;
      bytes += step.bytes;
    }
  }
  return text + fmt::format("{} ({}) from {} to {}; {} already present\n", counted(count, "step"), human_bytes(bytes),
                            printable(copied.from), printable(copied.to), there);
}

std::string copied_json(const Copied& copied) {
  Table document = new_document();
  document["from"] = copied.from;
  document["to"] = copied.to;
  Array steps;
  for (const CopiedStep& step : copied.steps) {
    Table item;
    item["key"] = step.key;
    item["wheel"] = step.wheel_name;
    item["bytes"] = step.bytes;
    item["state"] = !step.error.empty() ? "failed" : step.was_there ? "present" : "copied";
    if (!step.error.empty()) item["error"] = step.error;
    steps.emplace_back(std::move(item));
  }
  document["steps"] = std::move(steps);
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

std::string human_age(std::int64_t seconds) {
  seconds = std::max<std::int64_t>(seconds, 0);
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min", seconds / 60);
  if (seconds < 2 * 86'400) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} days", seconds / 86'400);
}

std::string collected_text(const Collected& collected, std::int64_t now, const Style& style) {
  std::string text;
  std::size_t objects = 0;
  std::uint64_t object_bytes = 0;
  const auto line = [&](std::string_view kind, std::uint64_t bytes, std::string_view age, const std::string& what) {
    text +=
        fmt::format("  {}{}  {}{}\n", pad_right(kind, 13), pad_left(human_bytes(bytes), 8), pad_right(age, 10), what);
  };
  for (const store::Removed& item : collected.removed) {
    if (item.kind == store::ItemKind::object) {  // there are thousands, and their names are hashes
      ++objects;
      object_bytes += item.bytes;
      continue;
    }
    const std::string path = printable(item.path);
    line(enum_name(item.kind), item.bytes, item.used == 0 ? "" : human_age(now - item.used),
         item.name.empty() ? path : fmt::format("{}  {}", printable(item.name), style.dim(path)));
  }
  if (objects != 0) line("object", object_bytes, "", counted(objects, "object") + " of the compile cache");
  for (const std::string& key : collected.held)
    text += fmt::format("  kept {}: in use by a build\n", printable(key.substr(0, 16)));
  if (!collected.removed.empty())
    text = fmt::format("  {}{}  {}\n", pad_right("kind", 13), pad_left("size", 8), "last used") + text;
  return text + fmt::format("{} {}\n", human_bytes(collected.bytes), collected.dry_run ? "would be freed" : "freed");
}

std::string collected_json(const Collected& collected) {
  Table document = new_document();
  document["bytes"] = collected.bytes;
  document["dry_run"] = collected.dry_run;
  Array paths;
  Array items;
  for (const store::Removed& item : collected.removed) {
    paths.emplace_back(to_valid_utf8(item.path));
    Table one;
    one["kind"] = enum_name(item.kind);
    one["path"] = to_valid_utf8(item.path);
    one["name"] = to_valid_utf8(item.name);
    one["bytes"] = item.bytes;
    one["used"] = item.used;
    items.emplace_back(std::move(one));
  }
  document["removed"] = std::move(paths);
  document["items"] = std::move(items);
  document["held"] = text_array(collected.held);
  return document_text(document);
}

std::string stored_wheels_text(const std::vector<store::StoredWheel>& wheels, std::int64_t now, const Style& style) {
  if (wheels.empty()) return "no finished wheels\n";
  std::size_t name = 7;
  std::size_t version = 7;
  std::uint64_t bytes = 0;
  for (const store::StoredWheel& wheel : wheels) {
    name = std::max(name, columns(printable(wheel.package)));
    version = std::max(version, columns(printable(wheel.version)));
    bytes += wheel.bytes;
  }
  const auto line = [&](const std::string& a, const std::string& b, const std::string& c, const std::string& d,
                        const std::string& e) {
    return fmt::format("{}  {}  {}  {}  {}\n", pad_right(a, name), pad_right(b, version), pad_left(c, 8),
                       pad_right(d, 8), e);
  };
  std::string text = style.bold(line("package", "version", "size", "built", "wheel"));
  for (const store::StoredWheel& wheel : wheels)
    text += line(printable(wheel.package), printable(wheel.version), human_bytes(wheel.bytes),
                 human_age(now - wheel.finished), printable(wheel.wheel_name));
  return text + fmt::format("{}, {}\n", counted(wheels.size(), "wheel"), human_bytes(bytes));
}

std::string stored_wheels_json(const std::filesystem::path& root, const std::vector<store::StoredWheel>& wheels) {
  Table document = new_document();
  document["root"] = root.string();
  Array items;
  for (const store::StoredWheel& wheel : wheels) {
    Table one;
    one["package"] = to_valid_utf8(wheel.package);
    one["version"] = to_valid_utf8(wheel.version);
    one["wheel"] = to_valid_utf8(wheel.wheel_name);
    one["identity"] = to_valid_utf8(wheel.identity);
    one["key"] = to_valid_utf8(wheel.key);
    one["bytes"] = wheel.bytes;
    one["finished"] = wheel.finished;
    one["used"] = wheel.used;
    items.emplace_back(std::move(one));
  }
  document["wheels"] = std::move(items);
  return document_text(document);
}

}  // namespace wheelsmith::report
