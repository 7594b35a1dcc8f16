// `--container`: runs the same command inside an image.

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "choose/user_variables.h"
#include "cli/session.h"
#include "container/visible.h"

namespace wheelsmith::cli {

namespace {

// The package index that pip uses on this machine; pip inside the image may have another default.
fetch::IndexSettings index_of_this_machine(const sys::Environment& environment) {
  const auto prefix = environment.find("VIRTUAL_ENV");
  fetch::IndexSettings index = fetch::read_pip_settings(environment, prefix == environment.end() ? "" : prefix->second);
  const std::filesystem::path python = sys::find_program("python3");
  if (index.index_url.empty() && !index.no_index && !python.empty()) index.index_url = fetch::pip_default_index(python);
  return index;
}

}  // namespace

std::optional<int> run_in_container(const settings::Settings& settings) {
  const sys::Environment environment = sys::current_environment();
  const std::string name = settings.text("container");
  if (name.empty() || container::inside(environment)) return std::nullopt;
  if (!settings.text("machine").empty())
    throw UsageError(
        "--machine and --container cannot be combined: one plans for another machine, the other runs in an image here");
  if (settings.flag("conda"))
    throw UsageError(
        "--conda cannot be combined with --container: the active conda environment is not part of the image");
  const std::filesystem::path store = open_store(settings)->root();
  const container::Image image =
      container::find_image(name, settings.text("container-engine"), store, settings.flag("offline"));
  print_status(fmt::format("running in {} {} ({})\n", container::to_string(image.engine), printable(name), image.id));
  const container::MountInputs around{.program = sys::own_executable(),
                                      .folder = std::filesystem::current_path(),
                                      .store = store,
                                      .environment = environment,
                                      .index = index_of_this_machine(environment),
                                      .exported_variables = choose::arch_variables()};
  std::vector<std::string> argv = sys::own_arguments();
  argv.front() = around.program.string();
  return container::run_inside(image, container::visible(settings, around, image), argv);
}

}  // namespace wheelsmith::cli
