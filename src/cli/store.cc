// `store`: shows, verifies and garbage-collects the store, and removes wheels by name.

#include "report/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "cli/session.h"
#include "pep/version.h"
#include "pep/wheel_name.h"
#include "remote/remote_store.h"
#include "sys/clock.h"
#include "sys/file.h"

namespace wheelsmith::cli {

namespace {

struct StoreCommand {
  OutputOptions output;
  SettingOptions settings;
  std::string keep;
  std::optional<double> older_than_days;
  bool rebuild = false, dry_run = false;
  bool shared = false, local = false;
  std::vector<std::string> names;
  std::string token_file;
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

int init_store(const StoreCommand& command) {
  const settings::Settings settings = command.settings.read();
  const std::string folder = settings.folder("store");
  const std::filesystem::path root = folder.empty() ? store::Store::default_root() : std::filesystem::path(folder);
  if (command.shared || command.local) store::Store::set_shared(root, command.shared);
  const auto store = open_store(settings);
  const report::InitializedStore made{store->root(), store->local_root(), store->is_shared()};
  print(command.output.json ? report::initialized_store_json(made)
                            : report::initialized_store_text(made, command.output.style()));
  return k_fine;
}

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

// The steps that match the names and keys; all if none is given.
std::vector<store::StoredWheel> chosen_steps(const std::vector<store::StoredWheel>& wheels,
                                             const std::vector<std::string>& words) {
  std::vector<std::string> names;
  std::vector<store::StoredWheel> result;
  for (const std::string& word : words) {
    if (!remote::is_digest(word)) {
      names.push_back(word);
      continue;
    }
    const auto found = std::ranges::find(wheels, word, &store::StoredWheel::key);
    if (found == wheels.end()) throw Error(fmt::format("there is no step with the key {}", word));
    result.push_back(*found);
  }
  if (words.empty() || !names.empty()) std::ranges::copy(chosen(wheels, names), std::back_inserter(result));
  return result;
}

bool is_remote_place(std::string_view place) { return place.starts_with("http://") || place.starts_with("https://"); }

fetch::FetchOptions copy_options(const settings::Settings& settings) {
  fetch::FetchOptions options;
  options.index = fetch::read_pip_settings(sys::current_environment(), "");
  options.mirrors = settings.table("mirrors");
  options.stop = [] { return sys::interrupted(); };
  return options;
}

std::vector<store::StoredWheel> listed(const remote::Listing& listing) {
  std::vector<store::StoredWheel> wheels;
  for (const remote::ListedStep& step : listing.steps) {
    store::StoredWheel wheel;
    wheel.package = step.package;
    wheel.version = step.version;
    wheel.wheel_name = step.wheel_name;
    wheel.key = step.key;
    wheel.bytes = step.bytes;
    wheels.push_back(std::move(wheel));
  }
  return wheels;
}

// A step that fails becomes an item of the result.
int copy_all(const StoreCommand& command, report::Copied copied, const std::vector<store::StoredWheel>& wheels,
             const std::function<bool(const std::string& key)>& copy) {
  bool good = true;
  for (const store::StoredWheel& wheel : wheels) {
    report::CopiedStep step{wheel.key, wheel.wheel_name, wheel.bytes};
    try {
      step.was_there = !copy(wheel.key);
    } catch (const Error& error) {  // becomes an item
      step.error = error.what();
      good = false;
    }
    copied.steps.push_back(std::move(step));
    if (sys::interrupted()) throw Error("interrupted; run the same command to resume");
  }
  print(command.output.json ? report::copied_json(copied) : report::copied_text(copied, command.output.style()));
  return good ? k_fine : k_not_fine;
}

store::StepRecord known_step(const store::Store& store, const std::string& key) {
  auto record = store.find_step(key);
  if (!record) throw Error("its record or its wheel is damaged");
  return std::move(*record);
}

std::string take_place(std::vector<std::string>& words) {
  std::string place = words.back();
  words.pop_back();
  return place;
}

int push(const StoreCommand& command) {
  const settings::Settings settings = command.settings.read();
  std::vector<std::string> words = command.names;
  const std::string place = take_place(words);
  const auto own = open_store(settings);
  const std::vector<store::StoredWheel> wheels = chosen_steps(own->wheels(), words);
  sys::install_interrupt_flag();
  if (is_remote_place(place)) {
    remote::RemoteStore other(place, copy_options(settings), remote::read_token(command.token_file));
    return copy_all(command, {own->root().string(), other.name(), {}}, wheels,
                    [&](const std::string& key) { return other.push(known_step(*own, key), *own); });
  }
  store::Store other(place, store_options(settings));
  return copy_all(command, {own->root().string(), other.root().string(), {}}, wheels,
                  [&](const std::string& key) { return remote::copy_step(known_step(*own, key), *own, other); });
}

int pull(const StoreCommand& command) {
  const settings::Settings settings = command.settings.read();
  std::vector<std::string> words = command.names;
  const std::string place = take_place(words);
  const auto own = open_store(settings);
  sys::install_interrupt_flag();
  if (is_remote_place(place)) {
    remote::RemoteStore other(place, copy_options(settings));
    // A plain web server has no list, but can serve steps by key.
    const bool keys_only = !words.empty() && std::ranges::all_of(words, remote::is_digest);
    std::vector<store::StoredWheel> wheels;
    if (keys_only) {
      for (const std::string& key : words) {
        store::StoredWheel wheel;
        wheel.key = wheel.wheel_name = key;
        wheels.push_back(std::move(wheel));
      }
    } else {
      wheels = chosen_steps(listed(other.list()), words);
    }
    return copy_all(command, {other.name(), own->root().string(), {}}, wheels, [&](const std::string& key) {
      if (own->find_step(key)) return false;
      const auto record = other.find(key);
      if (!record) throw Error("the remote store does not have it");
      other.pull(*record, *own);
      return true;
    });
  }
  if (!sys::is_folder(place)) throw Error(printable(place) + " is not a folder");
  const store::Store other(place, store_options(settings));
  return copy_all(command, {other.root().string(), own->root().string(), {}}, chosen_steps(other.wheels(), words),
                  [&](const std::string& key) { return remote::copy_step(known_step(other, key), other, *own); });
}

CLI::App* add_store_command(CLI::App& store, const std::string& name, const std::string& help,
                            const std::shared_ptr<StoreCommand>& command, Outcome& outcome,
                            int (*act)(const StoreCommand&)) {
  CLI::App* sub = store.add_subcommand(name, help);
  command->settings.add_to(*sub, {"store", "scratch", "claim-timeout"});
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
      "  wheelsmith store init --shared --store /cluster/store\n"
      "  wheelsmith store gc --keep 20GB --older-than 30 --dry-run\n"
      "  wheelsmith store rm pyyaml==6.0.1\n"
      "  wheelsmith store push flash-attn https://wheels.example.com/store\n"
      "  wheelsmith store verify --rebuild");
  const auto made = std::make_shared<StoreCommand>();
  CLI::App* init_command = add_store_command(*sub, "init", "Create a store, or set whether several machines share it",
                                             made, outcome, init_store);
  CLI::Option* shared = init_command->add_flag("--shared", made->shared, "Several machines use it at the same time");
  init_command->add_flag("--local", made->local, "One machine uses it, even on a network file system")
      ->excludes(shared);
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
  const auto pushed = std::make_shared<StoreCommand>();
  CLI::App* push_command =
      add_store_command(*sub, "push", "Copy finished steps to another store", pushed, outcome, push);
  push_command->add_option("NAME|KEY … URL|DIR", pushed->names, "Packages or keys, default: all; then the target store")
      ->required();
  push_command
      ->add_option("--token-file", pushed->token_file,
                   "File that contains the token of a remote store; default: $WHEELSMITH_STORE_TOKEN")
      ->type_name("FILE");
  const auto pulled = std::make_shared<StoreCommand>();
  add_store_command(*sub, "pull", "Copy finished steps from another store", pulled, outcome, pull)
      ->add_option("NAME|KEY … URL|DIR", pulled->names, "Packages or keys, default: all; then the source store")
      ->required();
  const auto removed = std::make_shared<StoreCommand>();
  CLI::App* rm = add_store_command(*sub, "rm", "Remove the wheels of a package and their build trees", removed, outcome,
                                   remove_chosen);
  rm->add_option("NAME[==VERSION]", removed->names, "Packages to remove")->required();
  rm->add_flag("--dry-run", removed->dry_run, "Show what would be removed, and remove nothing");
}

}  // namespace wheelsmith::cli
