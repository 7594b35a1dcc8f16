// `bundle`: makes a wheel that needs no installed SDK.

#include "report/wheel/bundle.h"

#include <fmt/format.h>

#include "base/text.h"
#include "bundle/make_bundle.h"
#include "cli/command.h"
#include "sys/process/process.h"

namespace wheelsmith::cli {

namespace {

struct BundleCommand {
  bool json = false;
  std::string wheel, out = ".", local;
  std::vector<std::string> from;
  unsigned threads = 0;
};

std::int64_t time_of_members() {
  const sys::Environment environment = sys::current_environment();
  const auto epoch = environment.find("SOURCE_DATE_EPOCH");
  if (epoch == environment.end() || epoch->second.empty()) return bundle::BundleRequest().time;
  const auto number = to_number(epoch->second);
  if (!number || *number > 0xffffffffffU)
    throw UsageError(
        fmt::format("SOURCE_DATE_EPOCH is {}, which is not a number of seconds since 1970", printable(epoch->second)));
  return static_cast<std::int64_t>(*number);
}

bundle::BundleRequest request_for(const BundleCommand& command) {
  return {.wheel = command.wheel,
          .from = command.from,
          .out = command.out,
          .local_label = command.local,
          .time = time_of_members(),
          .threads = thread_count(command.threads)};
}

int make_bundle(const BundleCommand& command) {
  const bundle::BundledWheel made = bundle::make_bundle(request_for(command));
  print(command.json ? report::bundled_wheel_json(made) : report::bundled_wheel_text(made));
  return made.verdict.is_good() ? k_fine : k_not_fine;
}

}  // namespace

void add_bundle(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<BundleCommand>();
  CLI::App* sub = app.add_subcommand("bundle", "Copy the SDK libraries that a wheel needs into it");
  sub->footer(
      "Makes a standalone wheel: copies the needed SDK libraries, their dependencies and their data files, points the "
      "run paths at the copies, and removes the requirements on the SDK's packages. See docs/bundle.md.\n\n"
      "Examples:\n"
      "  wheelsmith bundle torch-2.10.0-cp312-cp312-linux_x86_64.whl --from /opt/rocm --out standalone\n"
      "  wheelsmith bundle demo-1.0-py3-none-linux_x86_64.whl --from rocm_sdk_core-7.10.0-py3-none-linux_x86_64.whl\n"
      "    --from rocm_sdk_libraries-7.10.0-py3-none-linux_x86_64.whl --local fat");
  sub->add_option("WHEEL", command->wheel, "Wheel of the framework")->required();
  sub->add_option("--from", command->from,
                  "SDK: an installed tree, a site-packages folder or a wheel; the first one that has a file wins")
      ->required();
  sub->add_option("-o,--out", command->out, "Folder for the new wheel")->type_name("DIR")->capture_default_str();
  sub->add_option("--local", command->local, "Local label for the version: 1.0 becomes 1.0+LABEL")->type_name("LABEL");
  sub->add_option("--threads", command->threads, "Number of threads; 0: one per core")
      ->type_name("N")
      ->capture_default_str();
  sub->add_flag("--json", command->json, "Print one JSON document (docs/bundle.md) instead of text");
  sub->callback([command, &outcome] { outcome = [command] { return make_bundle(*command); }; });
}

}  // namespace wheelsmith::cli
