// `builds`, `attach` and `logs`: builds that run or have run, here or in a cluster.

#include <fmt/format.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/text.h"
#include "cli/session.h"
#include "report/json_document.h"
#include "run/build_list.h"
#include "slurm/commands.h"
#include "sys/io/tail.h"
#include "sys/process/own_process.h"

namespace wheelsmith::cli {

namespace {

struct BuildsCommand {
  OutputOptions output;
  SettingOptions settings;
};

struct AttachCommand {
  SettingOptions settings;
  std::string plan;
  bool cancel = false, json = false, quiet = false;
};

struct LogsCommand {
  SettingOptions settings;
  std::string step;
  bool follow = false;
};

// "2026-11-18 14:03", of this machine's time zone.
std::string date_text(double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  tm parts{};
  std::array<char, 32> text{};
  if (::localtime_r(&whole, &parts) == nullptr) return "";
  ::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &parts);
  return text.data();
}

// Of jobs that a record names, those that Slurm still has. Nothing if Slurm does not answer.
std::optional<std::set<std::string>> active_jobs(const std::vector<run::ListedBuild>& builds) {
  const bool any = std::any_of(builds.begin(), builds.end(),
                               [](const auto& build) { return build.on == "slurm" && !build.running.empty(); });
  if (!any) return std::nullopt;
  slurm::ProgramCommands commands;
  const slurm::Queue queue = slurm::queue(commands);
  if (queue.reply.answer != slurm::Answer::good) return std::nullopt;
  std::set<std::string> ids;
  for (const slurm::QueuedJob& job : queue.jobs) {
    if (slurm::is_active(job.state)) ids.insert(slurm::to_string(job.id));
  }
  return ids;
}

// "Slurm job 12_3 on n1": its number.
std::string job_in(const std::string& place) {
  constexpr std::string_view start = "Slurm job ";
  if (!place.starts_with(start)) return "";
  const std::string rest = place.substr(start.size());
  return rest.substr(0, rest.find(' '));
}

int show_builds(const BuildsCommand& command) {
  const std::unique_ptr<store::Store> store = open_store(command.settings.read());
  std::vector<run::ListedBuild> builds = run::list_builds(*store);
  const auto active = active_jobs(builds);
  for (run::ListedBuild& build : builds) {
    if (build.on != "slurm" || !active) continue;
    std::erase_if(build.running, [&](const auto& item) { return !active->contains(job_in(item.second)); });
  }
  if (command.output.json) {
    document::Array items;
    for (const run::ListedBuild& build : builds) {
      document::Table item;
      item["id"] = build.id;
      item["state"] = enum_name(build.state);
      item["on"] = build.on;
      item["started"] = build.started;
      item["host"] = build.host;
      item["steps"] = build.planned.size();
      item["ended"] = build.ended.size();
      document::Table running;
      for (const auto& [step, place] : build.running) running[step] = place;
      item["running"] = std::move(running);
      item["folder"] = build.folder;
      document::Array words;
      for (const std::string& word : build.command) words.emplace_back(word);
      item["command"] = std::move(words);
      items.emplace_back(std::move(item));
    }
    document::Table document = report::new_document();
    document["items"] = std::move(items);
    print(report::document_text(document));
    return k_fine;
  }
  if (builds.empty()) {
    print("no builds\n");
    return k_fine;
  }
  std::string text;
  const std::size_t most = command.output.all ? builds.size() : std::min<std::size_t>(builds.size(), 20);
  for (std::size_t i = 0; i < most; ++i) {
    const run::ListedBuild& build = builds[i];
    std::vector<std::string> words = build.command;
    if (!words.empty()) words.erase(words.begin());
    text += fmt::format("{}  {}  {:<11}  {:>5}  {}/{}{}  {}\n", printable(build.id), date_text(build.started),
                        enum_name(build.state), build.on, build.ended.size(), build.planned.size(),
                        build.running.empty() ? "" : fmt::format(" ({} running)", build.running.size()),
                        printable(sys::shell_quoted(words)));
  }
  if (most < builds.size()) text += fmt::format("and {} older ones (--all)\n", builds.size() - most);
  print(text);
  return k_fine;
}

int attach(const AttachCommand& command) {
  const settings::Settings settings = command.settings.read();
  std::optional<run::ListedBuild> found;
  {
    const std::unique_ptr<store::Store> store = open_store(settings);
    for (run::ListedBuild& build : run::list_builds(*store)) {
      if (!command.plan.empty() ? build.id.starts_with(command.plan)
                                : build.on == "slurm" && build.state == run::ListedBuild::State::detached) {
        if (found && !command.plan.empty())
          throw UsageError(fmt::format("several build ids begin with {}; give more digits", printable(command.plan)));
        if (!found) found = std::move(build);
      }
    }
  }
  if (!found)
    throw UsageError(command.plan.empty() ? "this store has no detached build; `wheelsmith builds` lists all builds"
                                          : fmt::format("there is no build {}; `wheelsmith builds` lists all builds",
                                                        printable(command.plan)));
  if (found->on != "slurm")
    throw UsageError(fmt::format("{} is not a cluster build: it ran on {}; run its command again to resume it",
                                 found->id, printable(found->host)));
  std::error_code error;
  std::filesystem::current_path(found->folder, error);
  if (error)
    throw Error(
        fmt::format("cannot enter the folder of that build, {}: {}", printable(found->folder), error.message()));
  // As the command was given: with its settings in variables, and those of this command on top.
  for (const auto& [name, value] : found->environment) {
    if (!name.starts_with("WHEELSMITH_")) continue;  // a record in the store must not set PATH or LD_PRELOAD
    ::setenv(name.c_str(), value.c_str(), 1);        // NOLINT(concurrency-mt-unsafe): before there are threads
  }
  std::vector<std::string> words = found->command;
  if (words.empty())
    throw Error("the command of that build contains a secret, so it was not recorded; run it again to continue");
  words.insert(words.end(), {"--expect-plan", found->id});
  if (command.cancel) words.emplace_back("--cancel");
  if (command.quiet) words.emplace_back("--quiet");
  std::erase(words, "--json");
  if (command.json) words.emplace_back("--json");
  sys::become(sys::own_executable(), words);
}

// Whether the job of a step has ended although no command was there to see it. Slurm is asked only then.
bool ended_unseen(const run::ListedBuild& build, const std::string& step) {
  if (build.on != "slurm" || build.state != run::ListedBuild::State::detached) return false;
  // The command of another machine cannot be seen; it may be about to submit the step again.
  if (build.host != sys::host_name()) return false;
  const auto place = build.running.find(step);
  if (place == build.running.end()) return true;  // it has no job
  const auto active = active_jobs({build});
  return active && !active->contains(job_in(place->second));
}

struct FoundLog {
  run::ListedBuild build;
  std::string step;
  std::filesystem::path log;
};

// The step of that name, else the only one that begins with it, in the newest build that has one.
std::optional<FoundLog> find_log(const store::Store& store, const std::string& name) {
  for (run::ListedBuild& build : run::list_builds(store)) {
    std::vector<std::string> near;
    for (const std::string& step : build.planned) {
      if (step == name) near = {step};
      if (step == name) break;
      if (step.starts_with(name)) near.push_back(step);
    }
    if (near.size() > 1)
      throw UsageError(
          fmt::format("{} steps begin with {}: {}", near.size(), printable(name), printable(join(near, ", "))));
    if (near.size() != 1) continue;
    const std::string step = near.front();
    return FoundLog{build, step, run::log_path(store, step, build.keys[step])};
  }
  return std::nullopt;
}

// The length of a colour sequence at the start of the text, or 0.
std::size_t colour_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != text.npos && text[end] == 'm' ? end + 1 : 0;
}

// Lines as a terminal may show them. Foreign programs wrote the log, and a terminal obeys more than colours: it can be
// told to change its title, the clipboard or what was printed before.
std::string for_terminal(std::string_view text) {
  std::string result;
  for (const std::string_view line : lines(text)) {
    std::size_t from = 0;
    for (std::size_t at = 0; at <= line.size(); ++at) {
      const std::size_t kept = at == line.size() || line[at] == '\t' ? 1 : colour_length(line.substr(at));
      if (kept == 0) continue;
      result += printable(line.substr(from, at - from));
      result += line.substr(at, kept);
      from = at + kept;
      at = from - 1;
    }
    result += '\n';
  }
  return result;
}

int show_log(const LogsCommand& command) {
  const std::unique_ptr<store::Store> store = open_store(command.settings.read());
  std::optional<FoundLog> found = find_log(*store, command.step);
  if (!found)
    throw UsageError(fmt::format("no build in this store has a step {}; `wheelsmith builds` lists all builds",
                                 printable(command.step)));
  sys::install_interrupt_flag();
  const bool is_terminal = sys::standard_output(sys::ColourChoice::automatic).is_terminal;
  std::uint64_t offset = 0;
  std::string partial;
  bool told = false, unseen = false;
  auto asked = std::chrono::steady_clock::time_point();
  for (auto looked = std::chrono::steady_clock::now();;) {
    const bool over = !command.follow || unseen || found->build.ended.contains(found->step) ||
                      found->build.state == run::ListedBuild::State::interrupted;
    const std::string more = sys::read_from(found->log, offset, 1 << 20);
    offset += more.size();
    if (!more.empty() && !is_terminal) print(more);
    if (!more.empty() && is_terminal) {
      partial += more;
      const std::size_t end = partial.rfind('\n') + 1;
      print(for_terminal(std::string_view(partial).substr(0, end)));
      partial.erase(0, end);
    }
    if (!more.empty()) continue;
    if (sys::interrupted()) return k_interrupted;
    if (over) break;
    if (std::chrono::steady_clock::now() - asked > std::chrono::seconds(5)) {
      asked = std::chrono::steady_clock::now();
      if (ended_unseen(found->build, found->step)) {
        unseen = true;
        continue;  // reads what the job wrote last
      }
    }
    if (offset == 0 && !std::exchange(told, true)) {
      const auto place = found->build.running.find(found->step);
      print_status(fmt::format(
          "{} has not started{}\n", printable(found->step),
          place == found->build.running.end() || place->second.empty() ? "" : ": " + printable(place->second)));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    if (std::chrono::steady_clock::now() - looked < std::chrono::seconds(2)) continue;
    looked = std::chrono::steady_clock::now();
    if (auto again = find_log(*store, command.step)) found = std::move(again);
  }
  if (!partial.empty()) print(for_terminal(partial));
  if (unseen)
    print_status(fmt::format("{} has no job in the cluster any more; to continue: wheelsmith attach {}\n",
                             printable(found->step), printable(found->build.id)));
  if (offset == 0)
    throw Error(fmt::format("{} has no log yet: {}", printable(found->step), printable(found->log.string())));
  return k_fine;
}

}  // namespace

void add_builds(CLI::App& app, Outcome& outcome) {
  const auto command = std::make_shared<BuildsCommand>();
  CLI::App* sub = app.add_subcommand("builds", "List the builds in the store and their state");
  sub->footer(
      "One line per plan: its id, start time, state, where it runs, the number of finished steps, and the "
      "command. A build is `detached` when its jobs may run in a cluster without the command that started them; "
      "`wheelsmith attach ID` continues it.\n\n"
      "Examples:\n"
      "  wheelsmith builds\n"
      "  wheelsmith builds --json | jq '.items[] | select(.state == \"detached\").id'");
  command->settings.add_to(*sub, {"store"});
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return show_builds(*command); }; });
}

void add_attach(CLI::App& app, Outcome& outcome) {
  const auto command = std::make_shared<AttachCommand>();
  CLI::App* sub = app.add_subcommand("attach", "Continue a cluster build whose command has ended");
  sub->footer(
      "Runs the command of that build again, in the folder where it was started: it finds the jobs that are queued or "
      "running, waits for them and submits the rest. Without PLAN, continues the newest detached build.\n\n"
      "Examples:\n"
      "  wheelsmith attach\n"
      "  wheelsmith attach 3f9c02ab\n"
      "  wheelsmith attach 3f9c02ab --cancel");
  sub->add_option("PLAN", command->plan, "Id of the plan, or its first digits (see `wheelsmith builds`)");
  sub->add_flag("--cancel", command->cancel, "Cancel its jobs instead");
  sub->add_flag("-q,--quiet", command->quiet, "Print only errors and the paths of the wheels");
  sub->add_flag("--json", command->json, "Print one JSON document (docs/json.md) instead of text");
  command->settings.add_to(*sub, {"store"});
  sub->callback([command, &outcome] { outcome = [command] { return attach(*command); }; });
}

void add_logs(CLI::App& app, Outcome& outcome) {
  const auto command = std::make_shared<LogsCommand>();
  CLI::App* sub = app.add_subcommand("logs", "Print the log of a step, also while it runs");
  sub->footer(
      "Examples:\n"
      "  wheelsmith logs texture\n"
      "  wheelsmith logs flash-attn-cuda-cp312-9.0a -f");
  sub->add_option("STEP", command->step, "Id of a step, or its beginning, such as flash-attn")->required();
  sub->add_flag("-f,--follow", command->follow, "Follow the log until the step ends");
  command->settings.add_to(*sub, {"store"});
  sub->callback([command, &outcome] { outcome = [command] { return show_log(*command); }; });
}

}  // namespace wheelsmith::cli
