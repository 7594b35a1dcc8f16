// `store`: shows, verifies and garbage-collects the store, and removes wheels by name.

#include "report/store.h"

#include <fmt/format.h>

#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "cli/session.h"
#include "pep/version.h"
#include "pep/wheel_name.h"
#include "sys/clock.h"

namespace wheelsmith::cli {

namespace {

struct StoreCommand {
  OutputOptions output;
  SettingOptions settings;
  std::string keep;
  std::optional<double> older_than_days;
  bool rebuild = false, dry_run = false;
  std::vector<std::string> names;
};

// NAME or NAME==VERSION, as pip compares them.
struct WheelChoice {
  std::string name;
  std::optional<pep::Version> version;

  [[nodiscard]] bool matches(const store::StoredWheel& wheel) const {
    const std::string_view file = std::string_view(wheel.wheel_name).substr(0, wheel.wheel_name.find('-'));
    if (pep::normalized_name(wheel.package) != name && pep::normalized_name(file) != name) return false;
    const auto theirs = pep::Version::try_parse(wheel.version);
    return !version || (theirs && *theirs == *version);
  }
};

WheelChoice read_choice(const std::string& text) {
  const std::size_t at = text.find("==");
  WheelChoice choice{pep::normalized_name(text.substr(0, at)), std::nullopt};
  if (choice.name.empty())
    throw UsageError(fmt::format("{} is not of the form NAME or NAME==VERSION", printable(text)));
  if (at == text.npos) return choice;
  choice.version = pep::Version::try_parse(text.substr(at + 2));
  if (!choice.version) throw UsageError(fmt::format("{} is not a valid version", printable(text.substr(at + 2))));
  return choice;
}

// The wheels selected by the names. Throws Error for a name that selects none.
std::vector<store::StoredWheel> chosen(const std::vector<store::StoredWheel>& wheels,
                                       const std::vector<std::string>& names) {
  if (names.empty()) return wheels;
  std::vector<WheelChoice> choices;
  for (const std::string& name : names) choices.push_back(read_choice(name));
  std::vector<store::StoredWheel> result;
  std::vector<bool> found(names.size());
  for (const store::StoredWheel& wheel : wheels) {
    bool wanted = false;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (!choices[i].matches(wheel)) continue;
      found[i] = wanted = true;
    }
    if (wanted) result.push_back(wheel);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!found[i])
      throw Error(fmt::format("the store has no wheel of {}; see `wheelsmith store ls`", printable(names[i])));
  }
  return result;
}

std::int64_t current_seconds() { return static_cast<std::int64_t>(sys::unix_seconds()); }

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
  // Without a size and an age, only leftover temporary files are removed.
  std::uint64_t keep = command.older_than_days ? 0 : std::numeric_limits<std::uint64_t>::max();
  if (!command.keep.empty()) keep = parse_size("--keep", command.keep);
  const auto store = open_store(command.settings.read());
  report::Collected collected{.bytes = 0, .removed = {}, .dry_run = command.dry_run};
  collected.bytes = store->collect(keep, static_cast<std::int64_t>(seconds), command.dry_run, collected.removed);
  print(command.output.json ? report::collected_json(collected)
                            : report::collected_text(collected, current_seconds(), command.output.style()));
  return k_fine;
}

int list_wheels(const StoreCommand& command) {
  const auto store = open_store(command.settings.read());
  const std::vector<store::StoredWheel> wheels = chosen(store->wheels(), command.names);
  print(command.output.json ? report::stored_wheels_json(store->root(), wheels)
                            : report::stored_wheels_text(wheels, current_seconds(), command.output.style()));
  return k_fine;
}

int remove_chosen(const StoreCommand& command) {
  const auto store = open_store(command.settings.read());
  const std::vector<store::StoredWheel> wheels = chosen(store->wheels(), command.names);
  report::Collected collected{.bytes = 0, .removed = {}, .dry_run = command.dry_run};
  collected.bytes = store->remove_wheels(wheels, command.dry_run, collected.removed, collected.held);
  print(command.output.json ? report::collected_json(collected)
                            : report::collected_text(collected, current_seconds(), command.output.style()));
  return collected.held.empty() ? k_fine : k_not_fine;
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
  CLI::App* sub = app.add_subcommand("store", "Show, verify and shrink the store of wheels and build data");
  sub->require_subcommand(1);
  sub->footer(
      "Examples:\n"
      "  wheelsmith store ls\n"
      "  wheelsmith store gc --keep 20GB --older-than 30 --dry-run\n"
      "  wheelsmith store rm pyyaml==6.0.1\n"
      "  wheelsmith store verify --rebuild");
  add_store_command(*sub, "stats", "Show the size of each part", std::make_shared<StoreCommand>(), outcome, stats);
  const auto listed = std::make_shared<StoreCommand>();
  add_store_command(*sub, "ls", "List finished wheels: package, version, size, age", listed, outcome, list_wheels)
      ->add_option("NAME[==VERSION]", listed->names, "List only wheels of these packages");
  const auto verified = std::make_shared<StoreCommand>();
  add_store_command(*sub, "verify", "Compare every file with its checksum", verified, outcome, verify)
      ->add_flag("--rebuild", verified->rebuild, "Rebuild the index from the files");
  const auto collected = std::make_shared<StoreCommand>();
  CLI::App* gc =
      add_store_command(*sub, "gc", "Free space: remove what is cheapest to recreate, least recently used first",
                        collected, outcome, collect);
  gc->footer(
      "Removes temporary files first, then build trees and logs, shims, downloads, environments, objects of the "
      "compile cache, and wheels last. Keeps everything that a running build uses, and the memory measurements of "
      "compiles.");
  gc->add_option(
      "--keep", collected->keep,
      "Target size of the store, such as 20GB; default: remove only temporary files and what --older-than selects");
  gc->add_option("--older-than", collected->older_than_days, "Remove only what was not used for this many days");
  gc->add_flag("--dry-run", collected->dry_run, "Show what would be removed, and remove nothing");
  const auto removed = std::make_shared<StoreCommand>();
  CLI::App* rm = add_store_command(*sub, "rm", "Remove the wheels of a package and their build trees", removed, outcome,
                                   remove_chosen);
  rm->add_option("NAME[==VERSION]", removed->names, "Packages to remove")->required();
  rm->add_flag("--dry-run", removed->dry_run, "Show what would be removed, and remove nothing");
}

}  // namespace wheelsmith::cli
