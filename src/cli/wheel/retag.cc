// `retag`: changes the name, version, build number or tags of a finished wheel.

#include "surgery/retag.h"

#include "cli/command.h"
#include "cli/wheel/surgery_options.h"

namespace wheelsmith::cli {

namespace {

struct RetagCommand {
  SurgeryOptions common;
  surgery::RetagRequest request;
};

int retag_wheels(const RetagCommand& command) {
  if (command.request.empty())
    throw UsageError("nothing to change; use --auto, a tag, --build, --version, --local-version or --name");
  if (command.request.version && command.request.local_version)
    throw UsageError("--version and --local-version exclude each other: a version includes its local part");
  return operate(command.common, [&](surgery::InputWheel& input, const surgery::WriteOptions& options,
                                     surgery::Item& item) { surgery::retag(input, command.request, options, item); });
}

}  // namespace

void add_retag(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<RetagCommand>();
  CLI::App* sub = app.add_subcommand("retag", "Change the tags, version, build number or name of a wheel");
  sub->footer(
      "File name, WHEEL, METADATA, RECORD and the .dist-info and .data folders agree afterwards. Members are copied "
      "as\n"
      "compressed bytes. The new tags are checked against the binaries. See docs/retag.md.\n\n"
      "Examples:\n"
      "  wheelsmith retag demo-1.0-cp311-cp311-linux_x86_64.whl --auto --out dist\n"
      "  wheelsmith retag demo-1.0-py3-none-any.whl --local-version cu130 --build 2\n"
      "  wheelsmith retag demo-1.0-py3-none-any.whl --python-tag +py2");
  surgery::RetagRequest& request = command->request;
  sub->add_flag("--auto", request.automatic, "The most compatible tags that the wheel qualifies for")->group("Tags");
  const auto add = [&](const char* option, std::optional<std::string>& value, const char* text, const char* type,
                       const char* group) { sub->add_option(option, value, text)->type_name(type)->group(group); };
  add("--python-tag", request.python_tag, "Python tags; +TAG adds one, -TAG removes one", "TAGS", "Tags");
  add("--abi-tag", request.abi_tag, "ABI tags; +TAG adds one, -TAG removes one", "TAGS", "Tags");
  add("--platform-tag", request.platform_tag, "Platform tags; +TAG adds one, -TAG removes one", "TAGS", "Tags");
  add("--build", request.build, "Build number; empty: none", "N", "Identity");
  add("--version", request.version, "Version", "VERSION", "Identity");
  add("--local-version", request.local_version, "Local part of the version, after the '+'; empty: none", "LABEL",
      "Identity");
  add("--name", request.name, "Name of the project", "NAME", "Identity");
  command->common.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return retag_wheels(*command); }; });
}

}  // namespace wheelsmith::cli
