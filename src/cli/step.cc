// `step` and `confine`: internal commands that a build starts; --help does not list them.

#include "run/step/step.h"

#include "cli/command.h"
#include "sys/sandbox/sandbox.h"

namespace wheelsmith::cli {

void add_step(CLI::App& app, Outcome& outcome) {
  auto job = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("step", "Run one step of a plan from its job file");
  sub->group("");
  sub->add_option("JOB", *job, "Job file; - for standard input")->required();
  sub->callback([job, &outcome] { outcome = [job] { return run::run_step(*job); }; });
}

void add_confine(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<std::vector<std::string>>();
  CLI::App* sub = app.add_subcommand("confine", "Run a command in the sandbox that standard input describes");
  sub->group("");
  sub->add_option("command", *command, "The command and its arguments, after --")->required();
  sub->positionals_at_end();
  sub->callback([command, &outcome] {
    outcome = [command] { return sys::run_confined(sys::read_policy_from_input(), *command); };
  });
}

}  // namespace wheelsmith::cli
