#include "report/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "cli/session.h"
#include "plan/render/render.h"
#include "plan/source_bundle.h"
#include "report/plan/checkout.h"

namespace wheelsmith::cli {

namespace {

struct PlanCommand {
  OutputOptions output;
  SettingOptions settings;
  std::vector<std::string> packages;
  std::string compare, base_image, bundle, into, matrix;
  std::vector<std::string> setup;
  bool upgrade = false, exact = false, editable = false, script = false, containerfile = false, dot = false;
};

gpu::ArchList read_archs(const std::string& text) {
  try {
    return gpu::ArchList::parse(text);
  } catch (const Error& error) {
    throw UsageError("--compare: " + printable(error.what()));
  }
}

int bundle_plan(const PlanCommand& command, const plan::Plan& plan, Session& session) {
  const auto repositories = make_repositories(session);
  const source::BundleContents written =
      plan::bundle_sources(plan, bundle_inputs(session, *repositories), command.bundle);
  print(command.output.json ? report::source_bundle_json(command.bundle, written)
                            : report::written_bundle_text(command.bundle, written));
  return k_fine;
}

// This command as `build`, for the jobs of a matrix.
std::vector<std::string> build_arguments(const settings::Settings& settings) {
  std::vector<std::string> result{"wheelsmith"};
  const std::vector<std::string> given = sys::own_arguments();
  bool renamed = false;
  for (std::size_t i = 1; i < given.size(); ++i) {
    const std::string& word = given[i];
    const std::string name = word.substr(0, word.find('='));
    if (name == "--matrix" || name == "--setup" || name == "--base-image") {
      if (name == word) ++i;  // skip its value, too
    } else if (word == "--json") {
      continue;
    } else {
      const bool verb = word == "plan" && !std::exchange(renamed, true);
      result.push_back(verb ? "build" : word);
    }
  }
  if (!settings.urls("store").empty()) result.push_back("--push");
  return result;
}

std::string matrix_text(const PlanCommand& command, const plan::Plan& plan, const settings::Settings& settings) {
  plan::MatrixOptions options{
      .command = build_arguments(settings), .image = command.base_image, .setup = command.setup};
  if (command.matrix == "gitlab") return plan::to_gitlab_pipeline(plan, options);
  return plan::to_github_matrix(plan, options);
}

int make(const PlanCommand& command) {
  std::optional<gpu::ArchList> other_archs;
  if (!command.compare.empty()) other_archs = read_archs(command.compare);
  if (!command.base_image.empty() && !command.containerfile && command.matrix != "gitlab")
    throw UsageError("--base-image needs --containerfile or --matrix gitlab");
  const settings::Settings settings = command.settings.read(command.packages);
  if (command.editable && !settings.text("container").empty())
    throw UsageError(
        "--editable cannot be combined with --container: the environment belongs to this machine, not to the image");
  if (const auto status = run_in_container(settings)) return *status;
  Session session(settings, command.upgrade);
  choose::Request request = session.build_request();
  request.editable = command.editable;
  // The runners of a matrix find results of other jobs by exact key only.
  request.exact = command.exact || !command.matrix.empty();
  request.into = command.into;
  plan::PlanInputs inputs = session.inputs();
  const bool to_people =
      !command.output.json && !command.script && !command.containerfile && !command.dot && command.matrix.empty();
  if (to_people && sys::standard_error_is_terminal())
    inputs.on_progress = [](const std::string& text) { print_status(printable(text) + "\n"); };
  const plan::Plan plan = plan::make_plan(request, inputs);
  if (!command.bundle.empty()) return bundle_plan(command, plan, session);
  if (command.script) {
    print(plan::to_script(plan));
  } else if (command.containerfile) {
    print(plan::to_containerfile(plan, command.base_image));
  } else if (!command.matrix.empty()) {
    print(matrix_text(command, plan, settings));
  } else if (command.dot) {
    print(plan::to_dot(plan));
  } else if (other_archs) {
    request.archs = {*other_archs};
    request.devices.clear();
    const plan::Plan other = plan::make_plan(request, inputs);
    print(command.output.json ? report::plan_json(plan, &other)
                              : report::compare_text(plan, other, command.output.style()));
  } else {
    print(command.output.json ? report::plan_json(plan) : report::plan_text(plan, command.output.style()));
  }
  return k_fine;
}

}  // namespace

void add_plan(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<PlanCommand>();
  CLI::App* sub = app.add_subcommand("plan", "Show what `build` would do, in which order, and why");
  sub->footer(
      "Takes the options of `build`. Runs no code from recipes or sources. A cached step is not built again; for every "
      "other step the plan gives the reason.\n\n"
      "Examples:\n"
      "  wheelsmith plan texture --arch \"8.0;9.0\"\n"
      "  wheelsmith plan texture --arch 9.0 --compare \"8.0;9.0;10.0\"\n"
      "  wheelsmith plan torch-scatter --torch 2.13.0 --script > build.sh\n"
      "  wheelsmith plan texture --matrix github > matrix.json\n"
      "  wheelsmith plan texture --dot | dot -Tsvg -o plan.svg");
  sub->add_option("PACKAGE", command->packages,
                  "Recipe or package name (NAME, NAME==1.2), folder (. or ./dir), archive, or git+URL@REF; default: "
                  "the packages in wheelsmith.toml");
  command->settings.add_to(*sub);
  sub->add_flag("--upgrade", command->upgrade,
                "Choose versions of sources and build requirements again instead of reusing earlier choices")
      ->group("Source");
  sub->add_flag("--exact", command->exact, k_exact_help)->group("Advanced");
  CLI::Option* editable = sub->add_flag("-e,--editable", command->editable, k_editable_help);
  editable->group("Output");
  sub->add_option("--into", command->into, "With --editable: the environment (folder or interpreter)")
      ->type_name("ENV")
      ->group("Output")
      ->needs(editable);
  CLI::Option* compare = sub->add_option("--compare", command->compare,
                                         "Show a second plan for these architectures, side by side with the first");
  compare->type_name("ARCHS")->group("Output");
  CLI::Option* script = sub->add_flag("--script", command->script, "Print an equivalent bash script");
  script->group("Output");
  CLI::Option* container =
      sub->add_flag("--containerfile", command->containerfile, "Print a Containerfile that runs the script");
  container->group("Output");
  CLI::Option* dot = sub->add_flag("--dot", command->dot, "Print the graph for Graphviz");
  dot->group("Output");
  CLI::Option* matrix = sub->add_option("--matrix", command->matrix,
                                        "Print the steps as CI jobs: a job matrix in stages for GitHub Actions, or a "
                                        "child pipeline for GitLab");
  matrix->type_name("github|gitlab")->group("Output")->check(CLI::IsMember({"github", "gitlab"}));
  sub->add_option("--setup", command->setup, "With --matrix gitlab: command to run before each build")
      ->type_name("COMMAND")
      ->allow_extra_args(false)
      ->group("Output")
      ->needs(matrix);
  sub->add_option("--base-image", command->base_image,
                  "Base image for --containerfile and --matrix gitlab; default for --containerfile: chosen by platform "
                  "and Python versions")
      ->type_name("IMAGE")
      ->group("Output");
  sub->add_option("--bundle", command->bundle,
                  "Write all sources of the plan to this file, for `checkout --unbundle` on a machine without network")
      ->type_name("FILE")
      ->group("Output")
      ->excludes(script)
      ->excludes(container)
      ->excludes(dot)
      ->excludes(matrix)
      ->excludes(compare);
  editable->excludes(container);  // the folder and the environment are this machine's
  command->output.add_to(*sub);
  CLI::Option* json = sub->get_option("--json");
  const std::vector<CLI::Option*> forms = {script, container, dot, matrix};
  for (CLI::Option* form : forms) {
    form->excludes(json)->excludes(compare);
    for (CLI::Option* other : forms) {
      if (other != form) form->excludes(other);
    }
  }
  sub->callback([command, &outcome] { outcome = [command] { return make(*command); }; });
}

}  // namespace wheelsmith::cli
