// `slim`: keeps the device code that the named GPUs need, in wheels, libraries and installed environments.

#include "surgery/slim/slim.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/request_error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/wheel/site_packages.h"
#include "cli/wheel/surgery_options.h"
#include "gpu/arch.h"
#include "pep/wheel_name.h"
#include "report/wheel/surgery.h"
#include "sys/file.h"
#include "sys/page_trimmer.h"
#include "sys/process/process.h"
#include "toolchain/toolchain.h"

namespace wheelsmith::cli {

namespace {

struct SlimCommand {
  SurgeryOptions common;
  std::string archs;
  std::vector<std::string> gpus;
  std::vector<std::string> packages;
  bool vendor_libraries = false;
  bool keep_size = false;
};

surgery::SlimRequest slim_request(const SlimCommand& command) {
  surgery::SlimRequest request;
  request.vendor_libraries = command.vendor_libraries;
  request.shorten = !command.keep_size;
  const auto for_slim_option = [](const char* option, const auto& read) {
    try {
      read();
    } catch (const Error& error) {
      throw UsageError(printable(std::string(option) + ": " + error.what()));
    }
  };
  if (!command.archs.empty()) for_slim_option("--arch", [&] { request.keep.add(gpu::ArchList::parse(command.archs)); });
  for (const std::string& name : command.gpus) {
    if (name != "auto") {
      for_slim_option("--gpu", [&] { request.keep.add(gpu::find_device(name)); });
      continue;
    }
    toolchain::Host machine;
    machine.environment = sys::current_environment();
    const std::vector<toolchain::Gpu> found = toolchain::find_gpus(machine);
    if (found.empty()) throw UsageError("--gpu auto: this machine has no GPU; name one, such as --gpu H100");
    for (const toolchain::Gpu& one : found) request.keep.add(gpu::Device{one.name, one.arch});
  }
  if (request.keep.empty()) throw UsageError("no GPU named; use --gpu H100, --arch \"9.0;8.9+PTX\" or --gpu auto");
  return request;
}

void slim_path(const std::string& path, const SlimCommand& command, const surgery::SlimRequest& request,
               const surgery::WriteOptions& write, std::vector<surgery::Item>& items) {
  if (sys::is_folder(path)) {
    std::vector<std::string> only;
    for (const std::string& name : command.packages) only.push_back(pep::normalized_name(name));
    for (surgery::Item& item : surgery::slim_environment(site_packages_of(path), request, only, write))
      items.push_back(std::move(item));
    return;
  }
  surgery::Item item;
  item.path = path;
  if (path.ends_with(".whl")) {
    const Blob file = sys::map_file(path);
    item.before_bytes = file.bytes.size();
    const sys::PageTrimmer trimmer(file.bytes);
    surgery::InputWheel input(path, file);
    surgery::slim_wheel(input, request, write, item);
  } else {
    surgery::slim_file(path, request, write, item);
  }
  items.push_back(std::move(item));
}

int slim_paths(const SlimCommand& command) {
  const surgery::SlimRequest request = slim_request(command);
  const surgery::WriteOptions write = command.common.write_options();
  std::vector<surgery::Item> items;
  bool fine = true;
  for (const std::string& path : command.common.paths) {
    const std::size_t first = items.size();
    try {
      slim_path(path, command, request, write, items);
    } catch (const RequestError&) {  // concerns the command, not this input
      throw;
    } catch (const Error& error) {  // becomes an item with an error
      surgery::Item item;
      item.path = path;
      item.error = error.what();
      items.push_back(std::move(item));
    }
    for (std::size_t i = first; i < items.size(); ++i) {
      fine = fine && items[i].error.empty();
      if (command.common.json) continue;
      if (!items[i].error.empty())
        print_status(fmt::format("wheelsmith: error: {}: {}\n", printable(items[i].path), printable(items[i].error)));
      print(report::surgery_text(items[i]));
    }
  }
  if (command.common.json) print(report::surgery_json(items));
  return fine ? k_fine : k_not_fine;
}

}  // namespace

void add_slim(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<SlimCommand>();
  CLI::App* sub = app.add_subcommand("slim", "Keep only the device code that the named GPUs need");
  sub->footer(
      "A wheel, library or file of device code is written to --out. The packages of an environment change in place.\n"
      "See docs/slim.md.\n\n"
      "Examples:\n"
      "  wheelsmith slim torch-2.15.0-cp312-cp312-manylinux_2_28_x86_64.whl --gpu H100 --out slim\n"
      "  wheelsmith slim dist/*.whl --arch \"9.0;8.9+PTX\" --out slim --dry-run\n"
      "  wheelsmith slim /opt/venv --gpu auto");
  sub->add_option("--gpu", command->gpus, "GPU to keep code for, by name; auto: those of this machine")
      ->type_name("NAME")
      ->allow_extra_args(false);
  sub->add_option("--arch", command->archs, "Architectures to keep code for: 9.0;8.9+PTX, gfx942")->type_name("ARCHS");
  sub->add_option("--package", command->packages, "In an environment, change this package only")
      ->type_name("NAME")
      ->allow_extra_args(false);
  sub->add_flag("--vendor-libraries", command->vendor_libraries,
                "Also change packages whose licence restricts modified copies");
  sub->add_flag("--keep-size", command->keep_size, "Fill freed space with zeros; do not shorten libraries");
  command->common.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return slim_paths(*command); }; });
}

}  // namespace wheelsmith::cli
