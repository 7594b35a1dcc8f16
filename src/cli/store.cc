// The store from outside: what is in it, whether it is whole, and making it smaller.

#include <fmt/format.h>

#include <limits>

#include "base/text.h"
#include "cli/session.h"
#include "document/finding_value.h"
#include "report/style.h"

namespace wheelsmith::cli {

namespace {

using document::Array;
using document::Table;

struct StoreCommand {
  OutputOptions output;
  SettingWords settings;
  std::string keep;
  std::optional<double> older_than_days;
  bool rebuild = false, dry_run = false;
};

std::unique_ptr<store::Store> open_store(const StoreCommand& command) {
  const std::string root = command.settings.read().text("store");
  return std::make_unique<store::Store>(root.empty() ? store::Store::default_root() : std::filesystem::absolute(root));
}

int stats(const StoreCommand& command) {
  const auto store = open_store(command);
  const store::Store::Stats found = store->stats();
  std::uint64_t bytes = 0;
  for (const auto& part : found.parts) bytes += part.bytes;
  if (command.output.json) {
    Table document;
    document["schema"] = 1;
    document["root"] = store->root().string();
    document["steps"] = found.steps;
    document["bytes"] = bytes;
    Array parts;
    for (const auto& part : found.parts) {
      Table item;
      item["name"] = part.name;
      item["files"] = part.files;
      item["bytes"] = part.bytes;
      parts.emplace_back(std::move(item));
    }
    document["parts"] = std::move(parts);
    print(document::to_json(document) + "\n");
    return k_fine;
  }
  std::string text = fmt::format("{}\n", command.output.style().bold(printable(store->root().string())));
  for (const auto& part : found.parts) {
    text += fmt::format("  {}{}{} file{}\n", report::pad_right(part.name, 14),
                        report::pad_right(human_bytes(part.bytes), 12), part.files, part.files == 1 ? "" : "s");
  }
  print(text +
        fmt::format("{} in all; {} finished step{}\n", human_bytes(bytes), found.steps, found.steps == 1 ? "" : "s"));
  return k_fine;
}

int verify(const StoreCommand& command) {
  const auto store = open_store(command);
  const std::vector<Finding> findings = store->verify(command.rebuild);
  bool good = true;
  Array items;
  std::string text;
  const report::Style style = command.output.style();
  for (const Finding& finding : findings) {
    good = good && finding.severity != Severity::error;
    items.push_back(document::to_value(finding));
    const std::string word(to_string(finding.severity));
    text += fmt::format("{} {} {}: {}\n", finding.severity == Severity::error ? style.red(word) : style.yellow(word),
                        finding.id, printable(finding.subject), style.wrap(printable(finding.what), 4));
    if (!finding.fix.empty()) text += fmt::format("    mend: {}\n", style.wrap(printable(finding.fix), 10));
  }
  if (command.output.json) {
    Table document;
    document["schema"] = 1;
    document["root"] = store->root().string();
    document["verdict"] = good ? "good" : "bad";
    document["findings"] = std::move(items);
    print(document::to_json(document) + "\n");
  } else {
    print(text +
          fmt::format("{} {}\n", good ? style.green("good") : style.red("bad"), printable(store->root().string())));
  }
  return good ? k_fine : k_not_fine;
}

int collect(const StoreCommand& command) {
  const double seconds = command.older_than_days.value_or(0) * 86'400;
  if (!(seconds >= 0) || seconds > 1e11) throw UsageError("--older-than takes a number of days");
  // Who says neither how much nor how old has asked for leftovers only.
  std::uint64_t keep = command.older_than_days ? 0 : std::numeric_limits<std::uint64_t>::max();
  if (!command.keep.empty()) keep = parse_size("--keep", command.keep);
  const auto store = open_store(command);
  std::vector<std::string> removed;
  const std::uint64_t bytes = store->collect(keep, static_cast<std::int64_t>(seconds), command.dry_run, removed);
  if (command.output.json) {
    Table document;
    document["schema"] = 1;
    document["bytes"] = bytes;
    document["dry_run"] = command.dry_run;
    document["removed"] = Array(removed.begin(), removed.end());
    print(document::to_json(document) + "\n");
    return k_fine;
  }
  std::string text;
  for (const std::string& name : removed) text += printable(name) + "\n";
  print(text + fmt::format("{} {}\n", human_bytes(bytes), command.dry_run ? "would be freed" : "freed"));
  return k_fine;
}

CLI::App* add(CLI::App& store, const std::string& name, const std::string& help,
              const std::shared_ptr<StoreCommand>& command, Outcome& outcome, int (*act)(const StoreCommand&)) {
  CLI::App* sub = store.add_subcommand(name, help);
  command->settings.add_to(*sub, {"store"});
  command->output.add_to(*sub);
  sub->callback([command, act, &outcome] { outcome = [command, act] { return act(*command); }; });
  return sub;
}

}  // namespace

void add_store(CLI::App& app, Outcome& outcome) {
  CLI::App* sub = app.add_subcommand("store", "Look at the store of results, check it, or make it smaller");
  sub->require_subcommand(1);
  sub->footer(
      "Examples:\n"
      "  wheelsmith store stats\n"
      "  wheelsmith store verify --rebuild\n"
      "  wheelsmith store gc --keep 20GB --older-than 30 --dry-run");
  add(*sub, "stats", "How much is in it", std::make_shared<StoreCommand>(), outcome, stats);
  const auto verified = std::make_shared<StoreCommand>();
  add(*sub, "verify", "Compare every file with its name and every result with its wheel", verified, outcome, verify)
      ->add_flag("--rebuild", verified->rebuild, "Make the index anew from the files");
  const auto collected = std::make_shared<StoreCommand>();
  CLI::App* gc =
      add(*sub, "gc", "Remove what is cheapest to make again, the longest unused first", collected, outcome, collect);
  gc->add_option("--keep", collected->keep,
                 "Size that may remain, like 20GB; default: only leftovers and what --older-than says");
  gc->add_option("--older-than", collected->older_than_days, "Only what has not been used for so many days");
  gc->add_flag("--dry-run", collected->dry_run, "Only say what would go");
}

}  // namespace wheelsmith::cli
