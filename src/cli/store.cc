// `store`: its size, its verification, and its garbage collection.

#include "report/store.h"

#include <limits>

#include "cli/session.h"

namespace wheelsmith::cli {

namespace {

struct StoreCommand {
  OutputOptions output;
  SettingOptions settings;
  std::string keep;
  std::optional<double> older_than_days;
  bool rebuild = false, dry_run = false;
};

int stats(const StoreCommand& command) {
  const auto store = open_store(command.settings.read());
  const store::Store::Stats found = store->stats();
  print(command.output.json ? report::store_stats_json(store->root(), found)
                            : report::store_stats_text(store->root(), found, command.output.style()));
  return k_fine;
}

int verify(const StoreCommand& command) {
  const auto store = open_store(command.settings.read());
  const report::VerifiedStore verified{store->root(), store->verify(command.rebuild)};
  print(command.output.json ? report::verified_store_json(verified)
                            : report::verified_store_text(verified, command.output.style()));
  return verified.is_good() ? k_fine : k_not_fine;
}

int collect(const StoreCommand& command) {
  const double seconds = command.older_than_days.value_or(0) * 86'400;
  if (!(seconds >= 0) || seconds > 1e11) throw UsageError("--older-than takes a number of days");
  // Without a size and an age only leftovers are removed.
  std::uint64_t keep = command.older_than_days ? 0 : std::numeric_limits<std::uint64_t>::max();
  if (!command.keep.empty()) keep = parse_size("--keep", command.keep);
  const auto store = open_store(command.settings.read());
  report::Collected collected{.bytes = 0, .removed = {}, .dry_run = command.dry_run};
  collected.bytes = store->collect(keep, static_cast<std::int64_t>(seconds), command.dry_run, collected.removed);
  print(command.output.json ? report::collected_json(collected) : report::collected_text(collected));
  return k_fine;
}

CLI::App* add_store_command(CLI::App& store, const std::string& name, const std::string& help,
                            const std::shared_ptr<StoreCommand>& command, Outcome& outcome,
                            int (*act)(const StoreCommand&)) {
  CLI::App* sub = store.add_subcommand(name, help);
  command->settings.add_to(*sub, {"store"});
  command->output.add_to(*sub);
  sub->callback([command, act, &outcome] { outcome = [command, act] { return act(*command); }; });
  return sub;
}

}  // namespace

void add_store(CLI::App& app, Outcome& outcome) {
  CLI::App* sub = app.add_subcommand("store", "Examine, verify or shrink the store of results");
  sub->require_subcommand(1);
  sub->footer(
      "Examples:\n"
      "  wheelsmith store stats\n"
      "  wheelsmith store verify --rebuild\n"
      "  wheelsmith store gc --keep 20GB --older-than 30 --dry-run");
  add_store_command(*sub, "stats", "How much is in it", std::make_shared<StoreCommand>(), outcome, stats);
  const auto verified = std::make_shared<StoreCommand>();
  add_store_command(*sub, "verify", "Compare every file with what was written", verified, outcome, verify)
      ->add_flag("--rebuild", verified->rebuild, "Make the index anew from the files");
  const auto collected = std::make_shared<StoreCommand>();
  CLI::App* gc = add_store_command(*sub, "gc", "Remove what is cheapest to make again, the longest unused first",
                                   collected, outcome, collect);
  gc->add_option("--keep", collected->keep,
                 "Size that may remain, like 20GB; default: only leftovers and what --older-than says");
  gc->add_option("--older-than", collected->older_than_days, "Only what has not been used for so many days");
  gc->add_flag("--dry-run", collected->dry_run, "Only say what would go");
}

}  // namespace wheelsmith::cli
