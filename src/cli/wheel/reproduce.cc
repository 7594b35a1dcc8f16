// `reproduce`: rebuilds a wheel from the recipe and the hashes that it contains, and compares the two.

#include "build/reproduce.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "choose/python.h"
#include "cli/session.h"
#include "report/reproduction.h"
#include "sys/file.h"

namespace wheelsmith::cli {

namespace {

struct ReproduceCommand {
  OutputOptions output;
  SettingOptions settings;
  std::vector<std::string> paths, wheels;
  std::string out, source;
};

std::optional<source::Override> read_source(const std::string& text) {
  if (text.empty()) return std::nullopt;
  try {
    return source::parse_override(text);
  } catch (const Error& error) {
    throw UsageError(printable(error.what()));
  }
}

build::ReproduceOptions reproduce_options(const ReproduceCommand& command, const Session& session,
                                          const choose::Request& request, const std::filesystem::path& out) {
  const settings::Settings& settings = session.settings();
  build::ReproduceOptions options;
  options.run.out = out;
  options.run.offline = request.offline;
  options.run.mirrors = session.fetch_options().mirrors;
  // The sandbox opens only paths that the user gives, not paths in the wheel's own variables.
  options.run.sandbox = sandbox_options(settings);
  if (const std::string sysroot = settings.text("sysroot"); !sysroot.empty())
    options.run.sandbox.open.emplace_back(sysroot);
  options.run.jobs = number_setting(settings, "jobs", 0);
  options.run.silence_seconds = number_setting(settings, "timeout", 0);
  if (const std::string memory = settings.text("memory"); !memory.empty())
    options.run.memory = parse_size("memory", memory);
  options.local.governed = settings.text("governor") != "off";
  options.pythons = request.pythons;
  options.source = read_source(command.source);
  options.variables = request.environment;
  options.container = request.container;
  if (!request.torch.empty()) options.torch = choose::interpreter_of(request.torch);
  options.wheel_folders.assign(command.wheels.begin(), command.wheels.end());
  return options;
}

// The rebuilt wheel must not replace the one that it is compared with.
void refuse_same_folder(const std::string& out, const std::string& wheel) {
  std::error_code ignored;
  if (!out.empty() && std::filesystem::equivalent(out, std::filesystem::absolute(wheel).parent_path(), ignored))
    throw UsageError(
        fmt::format("--out {}: the folder contains {}; choose another folder", printable(out), printable(wheel)));
}

int reproduce_wheels(const ReproduceCommand& command) {
  for (const std::string& path : command.paths) refuse_same_folder(command.out, path);
  sys::install_interrupt_flag();
  Session session(command.settings.read());
  const choose::Request request = session.request();
  const sys::TempDir temporary;
  const std::filesystem::path out = command.out.empty() ? temporary.path() : std::filesystem::path(command.out);
  build::ReproduceOptions options = reproduce_options(command, session, request, out);
  plan::PlanInputs inputs = session.inputs();
  if (!command.output.json) {
    inputs.on_progress = [](const std::string& text) { print_status(printable(text) + "\n"); };
    options.local.on_note = [](const std::string& text) { print_status(printable(text) + "\n"); };
    options.run.on_event = [](const run::Event& event) {
      if (event.kind == run::Event::Kind::phase || event.kind == run::Event::Kind::note)
        print_status("  " + printable(event.text) + "\n");
    };
  }
  std::vector<run::Reproduction> items;
  std::vector<std::pair<std::string, std::string>> errors;
  bool same = true;
  for (const std::string& path : command.paths) {
    try {
      items.push_back(build::reproduce(path, inputs, options));
      if (command.out.empty()) items.back().rebuilt.clear();
      same = same && items.back().same();
      if (!command.output.json) print(report::reproduction_text(items.back(), command.output.style()));
    } catch (const Error& error) {  // one input becomes an item with an error
      errors.emplace_back(path, error.what());
      same = false;
      print_status(fmt::format("wheelsmith: error: {}: {}\n", printable(path), printable(error.what())));
    }
    if (sys::interrupted()) break;
  }
  if (command.output.json) print(report::reproductions_json(items, errors));
  if (sys::interrupted()) return k_interrupted;
  return same ? k_fine : k_not_fine;
}

}  // namespace

void add_reproduce(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<ReproduceCommand>();
  CLI::App* sub = app.add_subcommand("reproduce", "Rebuild a wheel from the recipe in it and compare the bytes");
  sub->footer(
      "A wheel built by wheelsmith contains its recipe, the commit or hash of its source, and the hashes of its build "
      "requirements. `reproduce` fetches these again, builds the wheel in a fresh tree without the compile cache and "
      "without the result in the store, and compares the wheels member by member. Exit status: 0 if the bytes are "
      "identical, 1 if they differ or the build failed.\n\n"
      "This runs the build code of the wheel's recipe and source, in a sandbox, as `build` does. Reproduce only wheels "
      "whose source you would build.\n\n"
      "Examples:\n"
      "  wheelsmith reproduce small-1.0-cp311-cp311-manylinux_2_28_x86_64.whl\n"
      "  wheelsmith reproduce small-1.0-cp311-cp311-linux_x86_64.whl --source ~/src/small --out rebuilt");
  sub->add_option("WHEEL", command->paths, "Wheels")->required();
  sub->add_option("-o,--out", command->out, "Folder for the rebuilt wheel; default: remove it")->type_name("DIR");
  sub->add_option("--source", command->source,
                  "Folder, file or repository to use if the wheel's own source is not available")
      ->type_name("PATH");
  sub->add_option("--wheels", command->wheels, "Folder of wheels that the wheel was built with")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command->settings.add_to(
      *sub, {"cc", "cuda", "cxx", "env", "env-file", "governor", "jobs", "memory", "mirrors", "offline", "python",
             "recipes", "rocm", "sandbox", "sandbox-open", "store", "sysroot", "timeout", "torch"});
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return reproduce_wheels(*command); }; });
}

}  // namespace wheelsmith::cli
