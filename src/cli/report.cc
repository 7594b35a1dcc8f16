// `report`: a build as an HTML page, as a trace for profilers, and as JSON.

#include <fmt/format.h>

#include "base/text.h"
#include "cli/session.h"
#include "report/build/collect.h"
#include "sys/files.h"

namespace wheelsmith::cli {

namespace {

constexpr const char* k_default_file = "wheelsmith-report.html";

struct ReportCommand {
  SettingOptions settings;
  std::vector<std::string> sources;
  std::string out, trace;
  bool json = false;
};

int write_report(const ReportCommand& command) {
  if (command.json && command.out == "-") throw UsageError("--json and -o - both write to standard output");
  std::unique_ptr<store::Store> store;
  const settings::Settings settings = command.settings.read();
  report::BuildReport report = report::collect_report(command.sources, [&]() -> store::Store& {
    store = open_store(settings);
    return *store;
  });
  report.price = settings::read_price(settings.text("price-per-core-hour"));
  if (!command.trace.empty()) sys::write_file(command.trace, report::to_trace(report));
  const bool page = !command.out.empty() || (!command.json && command.trace.empty());
  const std::string file = command.out.empty() ? k_default_file : command.out;
  if (page && file == "-") {
    print(report::to_html(report));
    return k_fine;
  }
  if (page) sys::write_file(file, report::to_html(report));
  if (command.json) {
    print(report::to_json(report));
    return k_fine;
  }
  std::size_t compiles = 0;
  for (const report::BuildRecord& record : report.records) compiles += record.compiles.size();
  if (page) {
    print(fmt::format("{}: {}, {}\n", printable(file), counted(report.steps.size(), "step"),
                      counted(compiles, "compile")));
  }
  if (!command.trace.empty()) print(fmt::format("{}: for chrome://tracing or Perfetto\n", printable(command.trace)));
  return k_fine;
}

}  // namespace

void add_report(CLI::App& app, Outcome& outcome) {
  const auto command = std::make_shared<ReportCommand>();
  CLI::App* sub =
      app.add_subcommand("report", "Write an HTML report of a build: compiles, memory, waits, wheels, failures");
  sub->footer(
      "Writes one self-contained HTML file. BUILD is a compile record (from `wheelsmith run --log`), the output of "
      "`wheelsmith build --json`, a folder of logs, or a step or package that has been built; several become one "
      "report.\n\n"
      "Examples:\n"
      "  wheelsmith report\n"
      "  wheelsmith report flash-attn -o flash.html --trace flash.json\n"
      "  wheelsmith report --json | jq '.summary'");
  sub->add_option("BUILD", command->sources, "Builds to report; default: the newest build in the store");
  sub->add_option("-o,--output", command->out,
                  fmt::format("HTML file to write, - for standard output; default: {}", k_default_file))
      ->type_name("FILE");
  sub->add_option("--trace", command->trace, "Write a trace for chrome://tracing or Perfetto to this file")
      ->type_name("FILE");
  sub->add_flag("--json", command->json, "Print one JSON document (docs/json.md); write HTML only if -o is given");
  command->settings.add_to(*sub, {"store", "price-per-core-hour"});
  sub->callback([command, &outcome] { outcome = [command] { return write_report(*command); }; });
}

}  // namespace wheelsmith::cli
