#include "base/error.h"
#include "choose/python.h"
#include "cli/session.h"
#include "report/build/build.h"
#include "run/wheel_tests.h"

namespace wheelsmith::cli {

namespace {

struct TestCommand {
  OutputOptions output;
  SettingOptions settings;
  std::vector<std::string> paths;
};

int test(const TestCommand& command) {
  sys::install_interrupt_flag();
  Session session(command.settings.read());
  const toolchain::Python python = choose::choose_pythons(session.request(), session.host()).front();
  std::vector<run::WheelTest> items;
  bool good = true;
  for (const std::string& path : command.paths) {
    items.push_back(run::test_wheel(path, python, session.store(), session.fetcher(), session.host(),
                                    sandbox_options(session.settings()), session.settings().flag("offline")));
    good = good && items.back().good();
    if (!command.output.json) print(report::test_text(items.back(), command.output.style()));
    if (sys::interrupted()) break;
  }
  if (command.output.json) print(report::tests_json(items));
  if (sys::interrupted()) return k_interrupted;
  return good ? k_fine : k_not_fine;
}

}  // namespace

void add_test(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<TestCommand>();
  CLI::App* sub = app.add_subcommand("test", "Run the tests in a wheel's recipe on this machine");
  sub->footer(
      "Wheels built by wheelsmith contain their recipe. Its tests run in a fresh environment; tests that need a GPU "
      "are reported as `not run` if there is none. The architectures in the wheel are compared with the GPUs of this "
      "machine.\n\n"
      "Example:\n  wheelsmith test wheelhouse/texture-1.0.0+cu130-cp311-abi3-manylinux_2_34_x86_64.whl");
  sub->add_option("WHEEL", command->paths, "Wheels")->required();
  command->settings.add_to(*sub, {"python", "store", "offline", "sandbox", "sandbox-open"});
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return test(*command); }; });
}

}  // namespace wheelsmith::cli
