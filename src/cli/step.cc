// `step`, `relay` and `confine`: processes that a build starts. Users never call them, so --help does not list them.

#include "run/step/step.h"

#include "cli/command.h"
#include "run/cache_relay.h"
#include "sys/sandbox/sandbox.h"

namespace wheelsmith::cli {

void add_step(CLI::App& app, Outcome& outcome) {
  auto job = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("step", "Run one step of a plan from its job file");
  sub->group("");
  sub->add_option("JOB", *job, "Job file; - is standard input")->required();
  sub->callback([job, &outcome] { outcome = [job] { return run::run_step(*job); }; });
}

void add_relay(CLI::App& app, Outcome& outcome) {
  struct RelayCommand {
    std::string socket;
    std::vector<std::string> command;
  };
  auto relay = std::make_shared<RelayCommand>();
  CLI::App* sub = app.add_subcommand("relay", "Run a command with a way to the compile cache's server");
  sub->group("");
  sub->add_option("--socket", relay->socket, "The other end")->required();
  sub->add_option("command", relay->command, "The command and its words, after --")->required();
  sub->positionals_at_end();
  sub->callback([relay, &outcome] { outcome = [relay] { return run::run_relay(relay->socket, relay->command); }; });
}

void add_confine(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<std::vector<std::string>>();
  CLI::App* sub = app.add_subcommand("confine", "Run a command in the sandbox that standard input describes");
  sub->group("");
  sub->add_option("command", *command, "The command and its words, after --")->required();
  sub->positionals_at_end();
  sub->callback([command, &outcome] {
    outcome = [command] { return sys::run_confined(sys::read_policy_from_input(), *command); };
  });
}

}  // namespace wheelsmith::cli
