// `step`, `node` and `confine`: internal commands that a build starts; --help does not list them.

#include "run/step/step.h"

#include "cli/command.h"
#include "run/slurm/node_step.h"
#include "run/slurm/probe.h"
#include "sys/sandbox/sandbox.h"

namespace wheelsmith::cli {

void add_step(CLI::App& app, Outcome& outcome) {
  auto job = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("step", "Run one step of a plan from its job file");
  sub->group("");
  sub->add_option("JOB", *job, "Job file; - for standard input")->required();
  sub->callback([job, &outcome] { outcome = [job] { return run::run_step(*job); }; });
}

void add_node(CLI::App& app, Outcome& outcome) {
  auto batch = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("node", "Run one step of a plan as a cluster's job");
  sub->group("");
  auto probe = std::make_shared<bool>(false);
  sub->add_option("BATCH", *batch, "File of the jobs that one submission started")->required();
  sub->add_flag("--probe", *probe, "Write what is found on the node into that file instead");
  sub->callback([batch, probe, &outcome] {
    outcome = [batch, probe] { return *probe ? run::probe_node(*batch) : run::run_on_node(*batch); };
  });
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
