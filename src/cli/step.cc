// `step` and `relay`: processes that a build starts. Users never call them, so --help does not list them.

#include "run/step/step.h"

#include "cli/command.h"
#include "run/cache_relay.h"

namespace wheelsmith::cli {

void add_step(CLI::App& app, Outcome& outcome) {
  auto job = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("step", "Run one step of a plan from its job file");
  sub->group("");
  sub->add_option("JOB", *job, "Job file")->required();
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

}  // namespace wheelsmith::cli
