// `split`: makes one variant wheel for each group of GPU architectures, and an index of them.

#include "surgery/split.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/wheel/surgery_options.h"
#include "index/publish.h"

namespace wheelsmith::cli {

namespace {

struct SplitCommand {
  SurgeryOptions common;
  std::string dialect, groups;
  bool per_gpu = false, vendor_libraries = false, no_index = false;
};

int split_wheels(const SplitCommand& command) {
  if (command.per_gpu != command.groups.empty())
    throw UsageError("name the groups with --groups \"8.0,8.6;9.0\", or use --per-gpu for one wheel per architecture");
  surgery::SplitRequest request;
  const auto dialect = pep::variant_dialect(command.dialect);
  if (command.dialect.empty())
    throw UsageError(
        "no dialect given: the standards of variant wheels are drafts, and pip does not install such wheels yet\n"
        "  name the draft that your installer supports: --dialect pep825, --dialect pep850 or --dialect pep817");
  if (!dialect)
    throw UsageError(
        fmt::format("--dialect {}: known dialects are pep825, pep850 and pep817", printable(command.dialect)));
  request.dialect = *dialect;
  request.vendor_libraries = command.vendor_libraries;
  if (!command.groups.empty()) {
    try {
      request.groups = surgery::parse_groups(command.groups);
    } catch (const Error& error) {
      throw UsageError(printable(fmt::format("--groups: {}", error.what())));
    }
  }
  const int status =
      operate(command.common, [&](surgery::InputWheel& input, const surgery::WriteOptions& options,
                                  surgery::Item& item) { surgery::split_wheel(input, request, options, item); });
  if (status != k_fine || command.no_index || command.common.dry_run) return status;
  index::PublishOptions options;
  options.folder = command.common.out;
  options.look.threads = thread_count(command.common.threads);
  const index::Published done = index::publish(options);
  if (done.is_good()) return k_fine;
  print_status(fmt::format("wheelsmith: error: the index of {} has errors; run `wheelsmith index {}`\n",
                           printable(command.common.out), printable(command.common.out)));
  return k_not_fine;
}

}  // namespace

void add_split(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<SplitCommand>();
  CLI::App* sub =
      app.add_subcommand("split", "Split a wheel by GPU architecture into variant wheels (draft standards)");
  sub->footer(
      "Each wheel has the device code that its GPUs need, as `slim` keeps it, and properties by which an installer\n"
      "chooses it. The output folder becomes a package index. See docs/split.md.\n\n"
      "Examples:\n"
      "  wheelsmith split ext-1.0-cp312-cp312-manylinux_2_28_x86_64.whl --per-gpu --dialect pep850 --out dist\n"
      "  wheelsmith split ext.whl --groups \"8.0,8.6;9.0+PTX\" --dialect pep850 --out dist");
  sub->add_flag("--per-gpu", command->per_gpu, "One wheel for each architecture that the wheel has code for")
      ->group("Groups");
  sub->add_option("--groups", command->groups, "Groups of architectures, separated by ';'")
      ->type_name("GROUPS")
      ->group("Groups");
  sub->add_option("--dialect", command->dialect, "Draft to follow: pep825, pep850 or pep817")->type_name("NAME");
  sub->add_flag("--vendor-libraries", command->vendor_libraries,
                "Also change libraries whose licence restricts modified copies");
  sub->add_flag("--no-index", command->no_index, "Do not write index pages into the output folder");
  command->common.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return split_wheels(*command); }; });
}

}  // namespace wheelsmith::cli
