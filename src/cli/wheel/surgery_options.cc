#include "cli/wheel/surgery_options.h"

#include <fmt/format.h>

#include "base/request_error.h"
#include "base/text.h"
#include "base/zip_epoch.h"
#include "cli/command.h"
#include "report/wheel/surgery.h"
#include "sys/file.h"
#include "sys/page_trimmer.h"
#include "sys/process/process.h"

namespace wheelsmith::cli {

void SurgeryOptions::add_to(CLI::App& command, const std::string& out_names) {
  command.add_option("WHEEL", paths, "Wheels; they are not changed")->required();
  command.add_option(out_names, out, "Folder for the new wheels")->type_name("DIR")->capture_default_str();
  command.add_flag("--dry-run", dry_run, "Report names and exact sizes; write nothing");
  command.add_flag("--force", force, "Write the wheel even if `check` finds errors that the input does not have");
  command.add_option("--threads", threads, "Number of threads; 0: one per core")->type_name("N")->capture_default_str();
  command.add_flag("--json", json, "Print one JSON document (docs/json.md) instead of text")->group("Output");
}

surgery::WriteOptions SurgeryOptions::write_options() const {
  surgery::WriteOptions options;
  options.out = out;
  options.dry_run = dry_run;
  options.force = force;
  options.hash = json;  // the text does not show it, and it costs as much as copying
  options.time = member_time();
  options.threads = thread_count(threads);
  return options;
}

std::int64_t member_time() {
  const sys::Environment environment = sys::current_environment();
  const auto epoch = environment.find("SOURCE_DATE_EPOCH");
  if (epoch == environment.end() || epoch->second.empty()) return k_zip_epoch;
  const auto number = to_number(epoch->second);
  if (!number || *number > 0xffffffffffU)
    throw UsageError(
        fmt::format("SOURCE_DATE_EPOCH is {}; it must be a number of seconds since 1970", printable(epoch->second)));
  return static_cast<std::int64_t>(*number);
}

int operate(const SurgeryOptions& options, const WheelOperation& operation) {
  const surgery::WriteOptions write = options.write_options();
  std::vector<surgery::Item> items;
  bool fine = true;
  for (const std::string& path : options.paths) {
    surgery::Item item;
    item.path = path;
    try {
      const Blob file = sys::map_file(path);
      item.before_bytes = file.bytes.size();
      const sys::PageTrimmer trimmer(file.bytes);
      surgery::InputWheel input(path, file);
      operation(input, write, item);
    } catch (const RequestError&) {  // concerns the command, not this wheel
      throw;
    } catch (const Error& error) {  // becomes an item with an error
      fine = false;
      item.error = error.what();
      item.outputs.clear();
      item.after_bytes = 0;
      if (!options.json)
        print_status(fmt::format("wheelsmith: error: {}: {}\n", printable(path), printable(error.what())));
    }
    if (!options.json) print(report::surgery_text(item));
    items.push_back(std::move(item));
  }
  if (options.json) print(report::surgery_json(items));
  return fine ? k_fine : k_not_fine;
}

}  // namespace wheelsmith::cli
