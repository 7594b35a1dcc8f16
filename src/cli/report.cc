// A build as a page for people, as a trace for profilers, and as data for programs.

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/report_sources.h"
#include "cli/session.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/page_trimmer.h"
#include "wheel/read/inspect.h"

namespace wheelsmith::cli {

namespace {

constexpr const char* k_default_file = "wheelsmith-report.html";

struct ReportCommand {
  SettingWords settings;
  std::vector<std::string> sources;
  std::string out, trace;
  bool json = false;
};

// The store, opened when something is looked for in it.
class Shelf {
 public:
  explicit Shelf(const ReportCommand& command) : m_command(command) {}
  store::Store& store() {
    if (!m_store) {
      const std::string root = m_command.settings.read().text("store");
      m_store =
          std::make_unique<store::Store>(root.empty() ? store::Store::default_root() : std::filesystem::absolute(root));
    }
    return *m_store;
  }
  [[nodiscard]] bool is_open() const { return m_store != nullptr; }

 private:
  const ReportCommand& m_command;
  std::unique_ptr<store::Store> m_store;
};

void add_source(report::BuildReport& report, const std::string& source, Shelf& shelf) {
  std::error_code ignored;
  if (sys::is_folder(source)) {
    add_newest(report, source);
  } else if (std::filesystem::exists(source, ignored)) {
    add_file(report, source);
  } else {
    add_build_of_step(report, shelf.store().folder("logs"), source);
  }
}

report::WheelSizes sizes_of(const run::StepOutcome& step, Shelf& shelf) {
  report::WheelSizes sizes;
  sizes.step = step.id;
  sizes.path = step.wheel.string();
  try {
    std::filesystem::path file = step.wheel;
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored) && shelf.is_open()) {
      // It left the wheelhouse; the store may still have it.
      const auto record = shelf.store().find_step(step.key);
      if (const auto blob = record ? shelf.store().blob(record->wheel_sha256) : std::nullopt) file = *blob;
    }
    const Blob mapped = sys::map_file(file);
    const sys::PageTrimmer trimmer(mapped.bytes);
    const wheel::Inspection inspection =
        wheel::inspect_file(file.string(), mapped.bytes, {.threads = thread_count(0), .platform = {}});
    sizes.size = inspection.size;
    sizes.unpacked_size = inspection.unpacked_size;
    sizes.file_count = inspection.file_count;
    sizes.gpu = inspection.gpu;
  } catch (const Error& error) {  // one wheel becomes an item with an error
    sizes.error = error.what();
  }
  return sizes;
}

int write_report(const ReportCommand& command) {
  if (command.json && command.out == "-") throw UsageError("--json and -o - both write to standard output");
  Shelf shelf(command);
  report::BuildReport report;
  for (const std::string& source : command.sources) add_source(report, source, shelf);
  if (command.sources.empty()) add_newest(report, shelf.store().folder("logs"));
  report.title = title_of(report);
  for (const run::StepOutcome& step : report.steps) {
    if (!step.wheel.empty()) report.wheels.push_back(sizes_of(step, shelf));
  }
  if (!command.trace.empty()) sys::write_file(command.trace, report::to_trace(report));
  const bool page = !command.out.empty() || (!command.json && command.trace.empty());
  const std::string file = command.out.empty() ? k_default_file : command.out;
  if (page && file == "-") {
    print(report::to_html(report));
    return k_fine;
  }
  if (page) sys::write_file(file, report::to_html(report));
  if (command.json) {
    print(document::to_json(report::to_value(report)) + "\n");
    return k_fine;
  }
  std::size_t compiles = 0;
  for (const report::BuildRecord& record : report.records) compiles += record.compiles.size();
  if (page) {
    print(fmt::format("{}: {} step{}, {} compile{}\n", printable(file), report.steps.size(),
                      report.steps.size() == 1 ? "" : "s", compiles, compiles == 1 ? "" : "s"));
  }
  if (!command.trace.empty()) print(fmt::format("{}: for chrome://tracing or Perfetto\n", printable(command.trace)));
  return k_fine;
}

}  // namespace

void add_report(CLI::App& app, Outcome& outcome) {
  const auto command = std::make_shared<ReportCommand>();
  CLI::App* sub = app.add_subcommand("report", "Show how a build went: every compile, memory, waits, wheels, failures");
  sub->footer(
      "Writes one HTML file that needs nothing but a browser. Without words it is about the newest build of the "
      "store.\n"
      "A word is a record of compiles (of `wheelsmith run --log`), what `wheelsmith build --json` printed, a folder "
      "of\n"
      "logs, or a step or package that has been built; several become one report.\n\n"
      "Examples:\n"
      "  wheelsmith report\n"
      "  wheelsmith report flash-attn -o flash.html --trace flash.json\n"
      "  wheelsmith report --json | jq '.summary'");
  sub->add_option("BUILD", command->sources, "What to report of; default: the newest build of the store");
  sub->add_option("-o,--output", command->out,
                  fmt::format("The HTML file, \"-\" for standard output; default: {}", k_default_file))
      ->type_name("FILE");
  sub->add_option("--trace", command->trace, "Write the trace event format of Chrome and Perfetto there")
      ->type_name("FILE");
  sub->add_flag("--json", command->json, "Print one JSON document (docs/json.md); HTML only where -o names a file");
  command->settings.add_to(*sub, {"store"});
  sub->callback([command, &outcome] { outcome = [command] { return write_report(*command); }; });
}

}  // namespace wheelsmith::cli
