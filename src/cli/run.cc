// `run`: any build command under the governor.

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/session.h"
#include "governor/governor.h"
#include "report/build/build_report.h"
#include "sys/files.h"

namespace wheelsmith::cli {

namespace {

struct RunCommand {
  SettingOptions settings;
  std::string memory, log, json;
  unsigned cores = 0;
  bool quiet = false;
  std::vector<std::string> command;
};

int run_governed(const RunCommand& command) {
  const settings::Settings settings = command.settings.read();
  const auto store_object = open_store(settings);
  const store::Store& store = *store_object;
  governor::Options options;
  options.name = join(command.command, " ");
  options.jobs = number_setting(settings, "jobs", 0);
  options.cores = command.cores;
  if (!command.memory.empty()) options.memory = parse_size("--memory", command.memory);
  options.record = command.log;
  // The compile cache is used only if the user asks for it: the build may have its own.
  const settings::Held* cache = settings.find("cache");
  if (cache != nullptr && cache->origin != "default" && settings.text("cache") == "on") {
    options.cache = cache_options(settings, store);
    options.cache.scope = "run";
  }
  options.parts = settings.text("gpu-parts") == "on";
  sys::Environment environment = sys::current_environment();
  governor::GovernedBuild governed(store, options);
  governed.govern(environment);
  const int status = governor::run_command(command.command, environment, governed);
  const governor::Summary summary = governed.finish(status);
  const auto price = settings::read_price(settings.text("price-per-core-hour"));
  if (!command.quiet) {
    std::string text = summary.to_text();
    if (price && summary.cache.saved_seconds > 0)
      text += "; the cache saved " + report::saved_text(summary.cache.saved_seconds, price);
    print_status(fmt::format("wheelsmith: {}\n", text));
  }
  if (!command.json.empty()) {
    document::Value document = governor::run_value(summary, governed.record(), status);
    if (summary.cache.any()) (*document.table())["saved"] = report::saved_value(summary.cache.saved_seconds, price);
    sys::write_file(command.json, document::to_json(document) + "\n");
  }
  return status;
}

}  // namespace

void add_run(CLI::App& app, Outcome& outcome) {
  const auto command = std::make_shared<RunCommand>();
  CLI::App* sub = app.add_subcommand("run", "Run any build command without running out of memory");
  sub->footer(
      "Starts each compiler and linker of the command when enough memory and a core are free. If the kernel kills one "
      "for lack of memory, it is run again, alone. The exit status is that of the command.\n"
      "Examples:\n"
      "  wheelsmith run -- pip wheel --no-build-isolation flash-attn\n"
      "  wheelsmith run --memory 12GB -- ninja -j16");
  command->settings.add_to(*sub, {"store", "scratch", "jobs", "cache", "cache-dir", "cache-size", "cache-compression",
                                  "cache-remote", "gpu-parts", "price-per-core-hour"});
  sub->add_option("--memory", command->memory, "Memory limit for all compilers together, such as 12GB")
      ->type_name("SIZE");
  sub->add_option("--cores", command->cores, "Number of cores to use; default: all")->type_name("N");
  sub->add_option("--log", command->log, "Write the compile record to this file; default: a file in the store")
      ->type_name("FILE");
  sub->add_option("--summary", command->json, "Write the summary to this file, as JSON")->type_name("FILE");
  sub->add_flag("-q,--quiet", command->quiet, "Print no summary on standard error");
  sub->add_option("ARG", command->command, "Command and its arguments, after --")->required();
  sub->positionals_at_end();
  sub->callback([command, &outcome] { outcome = [command] { return run_governed(*command); }; });
}

// Internal: the first process that needs a governor starts it.
void add_governor(CLI::App& app, Outcome& outcome) {
  const auto runtime = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("governor", "Admit compilers until no build needs the governor");
  sub->group("");
  sub->add_option("--runtime", *runtime, "Folder of the lock and the socket")->required();
  sub->callback([runtime, &outcome] { outcome = [runtime] { return governor::run_governor(*runtime); }; });
}

}  // namespace wheelsmith::cli
