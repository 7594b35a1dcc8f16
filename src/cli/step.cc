// `step`, `node` and `confine`: internal commands that a build starts; --help does not list them.

#include "run/step/step.h"

#include "cli/command.h"
#include "governor/governor.h"
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
  auto scratch = std::make_shared<std::string>();
  sub->add_option("--scratch", *scratch, "With --probe: folder for trees and environments");
  sub->callback([batch, probe, scratch, &outcome] {
    outcome = [batch, probe, scratch] { return *probe ? run::probe_node(*batch, *scratch) : run::run_on_node(*batch); };
  });
}

void add_node_compile(CLI::App& app, Outcome& outcome) {
  auto request = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("node-compile", "Run one compile of a step on another node of its job");
  sub->group("");
  sub->add_option("REQUEST", *request, "File that says what to run")->required();
  sub->callback([request, &outcome] { outcome = [request] { return governor::run_node_compile(*request); }; });
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
