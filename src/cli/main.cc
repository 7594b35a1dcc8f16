#include "cli/main.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>

#include "base/byte_size.h"
#include "base/parallel.h"
#include "base/request_error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "report/wheel/json.h"
#include "sys/process/process.h"
#include "sys/unfinished_files.h"

namespace wheelsmith::cli {

namespace {

// The commands and options to suggest for an unknown argument.
std::vector<std::string> known_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    names.push_back(sub->get_name());
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

const CLI::App& active_command(const CLI::App& app) {
  const CLI::App* active = &app;
  while (!active->get_subcommands().empty()) active = active->get_subcommands().back();
  return *active;
}

bool has_commands(const CLI::App& app) {
  return !app.get_subcommands([](const CLI::App*) { return true; }).empty();
}

// True if only the subcommand is missing; the response is the list of commands.
bool is_without_command(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& active = active_command(app);
  return dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && has_commands(active) &&
         active.remaining(true).empty();
}

std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& active = active_command(app);
  const std::vector<std::string> extras = active.remaining(true);
  std::string message = error.what();
  // For an unknown command, CLI11 reports that a command is required before it reports the unknown argument.
  const bool no_command = has_commands(active) && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if ((no_command || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) && !extras.empty()) {
    const std::string argument = extras.front().substr(0, extras.front().find('='));
    message = fmt::format("unknown {} {}",
                          argument.starts_with('-') ? "option"
                          : has_commands(active)    ? "command"
                                                    : "argument",
                          argument);
    if (const auto near = nearest(argument, known_names(active))) message += "; did you mean " + *near + "?";
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    // "Could not convert: --threads = x"; options that are converted are numbers.
    const std::size_t name = message.find(": "), value = message.find(" = ");
    if (name != std::string::npos && value != std::string::npos && value > name)
      message = fmt::format("{} {}: must be a whole number", message.substr(name + 2, value - name - 2),
                            message.substr(value + 3));
  }
  return printable(message) + "\n  try: " + describe(active).path + " --help";
}

bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) return true;
  }
  return false;
}

// The JSON document of a command always has its list, even when the list is empty.
enum class List { none, items, steps, checks, differences };

List wanted_list(int argc, char** argv) {
  if (!wants_json(argc, argv)) return List::none;
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "build" || command == "plan") return List::steps;
  if (command == "diff") return List::differences;
  return command == "doctor" ? List::checks : List::items;
}

constexpr const char* list_name(List list) {
  switch (list) {
    case List::steps: return "steps";
    case List::checks: return "checks";
    case List::differences: return "differences";
    case List::none:
    case List::items: break;
  }
  return "items";
}

int fail(List json, int status, const std::string& message) {
  try {
    if (json != List::none) {
      print(report::error_json(message, list_name(json)));
    }
  } catch (const Error&) {  // writing the output failed; the message below reports the error
  }
  std::fprintf(stderr, "wheelsmith: error: %s\n", message.c_str());
  return status;
}

// Files are written atomically, so a signal leaves nothing half-written; the handler removes temporary files, which may
// be as large as a wheel, and reports it. With --json
// nothing was printed before the end, so this is the only document.
extern "C" void on_interrupt(int) {
  sys::remove_unfinished_files();
  const char text[] = "\nwheelsmith: interrupted\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, sizeof text - 1);
  ::_exit(k_interrupted);
}

void say_interrupted(std::string_view document, int signal) {
  [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, document.data(), document.size());
  on_interrupt(signal);
}

extern "C" void on_interrupt_items(int signal) {
  say_interrupted("{\"schema\": 1, \"items\": [], \"error\": \"interrupted\"}\n", signal);
}

extern "C" void on_interrupt_steps(int signal) {
  say_interrupted("{\"schema\": 1, \"steps\": [], \"error\": \"interrupted\"}\n", signal);
}

extern "C" void on_interrupt_checks(int signal) {
  say_interrupted("{\"schema\": 1, \"checks\": [], \"error\": \"interrupted\"}\n", signal);
}

extern "C" void on_interrupt_differences(int signal) {
  say_interrupted("{\"schema\": 1, \"differences\": [], \"error\": \"interrupted\"}\n", signal);
}

// Files are read through memory mappings. If another program truncates a mapped file, or its disk fails, the kernel
// sends SIGBUS. The thread cannot continue from there.
List bus_error_list = List::none;  // set before there are threads

extern "C" void on_bus_error(int signal, siginfo_t* info, void*) {
  if (info->si_code != BUS_ADRERR) {  // an internal error: the instruction runs again and takes the default action
    std::signal(signal, SIG_DFL);
    return;
  }
  constexpr std::string_view k_text =
      "wheelsmith: error: a file was truncated while it was being read, or its disk has a read error\n";
  const char* const list = list_name(bus_error_list);
  if (bus_error_list != List::none) {
    for (const std::string_view part : {std::string_view("{\"schema\": 1, \""), std::string_view(list),
                                        std::string_view("\": [], \"error\": \"a file was truncated while it was being "
                                                         "read, or its disk has a read error\"}\n")}) {
      [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, part.data(), part.size());
    }
  }
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, k_text.data(), k_text.size());
  sys::remove_unfinished_files();
  ::_exit(k_not_fine);
}

void handle_bus_errors(List json) {
  bus_error_list = json;
  struct sigaction action{};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

using Handler = void (*)(int);

Handler handler_for(List json) {
  switch (json) {
    case List::none: break;
    case List::items: return on_interrupt_items;
    case List::steps: return on_interrupt_steps;
    case List::checks: return on_interrupt_checks;
    case List::differences: return on_interrupt_differences;
  }
  return on_interrupt;
}

// Groups the commands in the order in which a new user needs them. All others are under "Other commands".
void arrange(CLI::App& app) {
  const std::pair<const char*, std::vector<const char*>> groups[] = {
      {"Build wheels", {"build", "plan", "doctor", "test", "report", "diagnose", "run", "builds", "attach", "logs"}},
      {"Examine and change wheels",
       {"inspect", "check", "diff", "verify", "reproduce", "retag", "repair", "slim", "split", "variant", "bundle",
        "elf"}},
      {"Sources and recipes", {"recipes", "recipe", "checkout", "patches", "manifest"}},
      {"Publish", {"index", "serve"}},
      {"ROCm", {"rocm"}},
      {"Settings and storage", {"config", "trust", "store", "cache"}},
  };
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) {
    if (sub->get_group().empty()) continue;
    sub->group("Other commands");
    for (const auto& [group, names] : groups) {
      if (std::ranges::find(names, sub->get_name()) != names.end()) sub->group(group);
    }
  }
}

int parse_and_run(CLI::App& app, int argc, char** argv) {
  Outcome outcome;
  add_build(app, outcome);
  add_plan(app, outcome);
  add_doctor(app, outcome);
  add_test(app, outcome);
  add_report(app, outcome);
  add_diagnose(app, outcome);
  add_run(app, outcome);
  add_builds(app, outcome);
  add_attach(app, outcome);
  add_logs(app, outcome);
  add_inspect(app, outcome);
  add_check(app, outcome);
  add_diff(app, outcome);
  add_verify(app, outcome);
  add_reproduce(app, outcome);
  add_retag(app, outcome);
  add_slim(app, outcome);
  add_repair(app, outcome);
  add_variant(app, outcome);
  add_split(app, outcome);
  add_bundle(app, outcome);
  add_elf(app, outcome);
  add_recipes(app, outcome);
  add_recipe(app, outcome);
  add_checkout(app, outcome);
  add_patches(app, outcome);
  add_manifest(app, outcome);
  add_index(app, outcome);
  add_serve(app, outcome);
  add_rocm(app, outcome);
  add_config(app, outcome);
  add_trust(app, outcome);
  add_store(app, outcome);
  add_completion(app, outcome);
  add_help(app, outcome);
  add_man(app, outcome);
  add_governor(app, outcome);
  add_step(app, outcome);
  add_node(app, outcome);
  add_node_compile(app, outcome);
  add_confine(app, outcome);
  arrange(app);
  const List json = wanted_list(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForAllHelp&) {  // --help
    print_help(active_command(app), report::HelpLength::full);
    return k_fine;
  } catch (const CLI::CallForHelp&) {  // -h
    print_help(active_command(app), report::HelpLength::brief);
    return k_fine;
  } catch (const CLI::Success& success) {  // --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    if (json == List::none && is_without_command(app, error)) {
      print_help(active_command(app), report::HelpLength::brief);
      return k_usage;
    }
    return fail(json, k_usage, usage_message(app, error));
  }
  try {
    return outcome();
  } catch (const UsageError& error) {
    return fail(json, k_usage, error.what());
  } catch (const RequestError& error) {
    return fail(json, k_usage, printable(error.what()));
  } catch (const Error& error) {
    if (sys::interrupted()) return fail(json, k_interrupted, "interrupted; run the same command again to resume");
    return fail(json, k_not_fine, printable(error.what()));
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(json, k_not_fine, printable(error.what()));
  } catch (const std::exception& error) {
    return fail(json, k_bug, printable(std::string("internal error (please report it): ") + error.what()));
  }
}

}  // namespace

void OutputOptions::add_to(CLI::App& command) {
  command.add_flag("--json", json, "Print one JSON document (docs/json.md) instead of text")->group("Output");
  command.add_flag("--all", all, "Print all details instead of a selection")->group("Output");
  command.add_option("--color,--colour", colour, "When to colour the output")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN")
      ->capture_default_str()
      ->group("Output");
}

report::Style OutputOptions::style() const {
  const sys::ColourChoice choice = colour == "always"  ? sys::ColourChoice::always
                                   : colour == "never" ? sys::ColourChoice::never
                                                       : sys::ColourChoice::automatic;
  const sys::Terminal terminal = sys::standard_output(choice);
  return {.colour = terminal.colour, .unicode = terminal.unicode, .width = terminal.width, .details = all};
}

std::uint64_t parse_size(const std::string& option, const std::string& text) {
  const auto bytes = parse_byte_size(text);
  if (!bytes)
    throw UsageError(
        fmt::format("{} {} is not a valid size; use a form such as 100MB or 1.5GB", option, printable(text)));
  return *bytes;
}

unsigned thread_count(unsigned asked) { return asked == 0 ? usable_threads() : std::min(asked, 256U); }

void print_status(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written && errno != EPIPE) throw Error(std::string("cannot write the output: ") + std::strerror(errno));
}

int run(int argc, char** argv) {
  const Handler interrupted = handler_for(wanted_list(argc, argv));
  handle_bus_errors(wanted_list(argc, argv));
  std::signal(SIGINT, interrupted);
  std::signal(SIGTERM, interrupted);
  if (std::signal(SIGHUP, interrupted) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe (| head) ends the program quietly, see print()
  CLI::App app("Wheelsmith builds GPU Python packages from source into verified wheels.", "wheelsmith");
  app.set_version_flag("-V,--version", "wheelsmith " WHEELSMITH_VERSION, "Print the version")->group("Help");
  app.set_help_flag("-h", k_help_text);
  app.set_help_all_flag("--help", k_help_text);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  wheelsmith doctor                     can this machine build wheels?\n"
      "  wheelsmith build .                    build the package in this folder\n"
      "  wheelsmith build flash-attn --gpu H100\n"
      "  wheelsmith check dist/*.whl\n"
      "\n"
      "`wheelsmith help COMMAND` explains a command.");
  return parse_and_run(app, argc, argv);
}

}  // namespace wheelsmith::cli
