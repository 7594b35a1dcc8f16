// Changes to the source once its environment exists: the recipe's files, its commands (hipify among them), and the
// patches to apply after hipify. Such commands rewrite the source and must not run twice. They run once per tree, and
// an interrupted preparation starts over with a new tree (source.cc).

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/requirement.h"
#include "pep/wheel_name.h"
#include "run/step/phases.h"
#include "run/step/tool_runner.h"
#include "source/patches/patch.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::run {

namespace {

// Checks the torch that was installed, not the one requested: an index without a GPU build for this Python silently
// serves a CPU build. Importing torch runs its code, so this check cannot be part of the environment phase.
void check_torch(const plan::BuildSpec& spec, BuildEnvironment& environment, const ToolRunner& tools,
                 const StepServices& services) {
  environment.torch = toolchain::find_torch(environment.environment.python, true, tools.confined_host());
  const auto& torch = environment.torch;
  const std::string where = "the build environment";
  if (!torch) throw Error("torch is missing from " + where + ", but the recipe builds against it");
  if (!torch->problem.empty())
    throw Error(fmt::format("torch {} in {} cannot be imported: {}", torch->version, where, torch->problem));
  const std::string& wanted = spec.environment.torch_build.version;
  if (!wanted.empty() && torch->version != wanted && !torch->version.starts_with(wanted + "+"))
    throw Error(fmt::format("torch {} was installed in {}, but the plan requires {}", torch->version, where, wanted));
  if (spec.variant == recipe::Variant::cuda && (torch->cuda.empty() || !torch->has_cuda_macros)) {
    throw Error(fmt::format("torch {} in {} is a {} build without CUDA headers; a {} build is required", torch->version,
                            where, torch->variant(), recipe::to_string(spec.variant)));
  }
  services.report.note(fmt::format("torch {} ({})", torch->version, torch->variant()));
}

// The path is the recipe's, but the folders in it are the source's, which may contain links to anywhere.
void refuse_to_leave(const std::filesystem::path& path, const SourceTree& tree) {
  const std::filesystem::path source = std::filesystem::canonical(tree.source);
  std::error_code error;  // for example, a link to itself
  const std::filesystem::path folder = std::filesystem::weakly_canonical(path.parent_path(), error);
  if (!error && sys::is_within(folder, source)) return;
  throw Error(fmt::format("[build.files] {}: a link in the source points to {}, outside its tree",
                          printable(path.lexically_relative(tree.package).string()), printable(folder.string())));
}

void write_file(const plan::WriteFile& file, const SourceTree& tree, const ToolRunner& tools, Reporter& report) {
  const std::filesystem::path path = tree.package / file.path;
  refuse_to_leave(path, tree);
  const std::string wanted = tools.with_paths(file.text);
  if (sys::read_file_if_there(path, 16 << 20) == wanted) return;
  sys::make_folders(path.parent_path());
  sys::write_file(path, wanted);
  report.note("wrote " + file.path);
}

void run_command(const plan::RunCommand& command, ToolRunner& tools, bool offline) {
  const std::string& program = command.argv.front();
  tools.run(command.argv, program.find('/') == std::string::npos ? program : join(command.argv, " "),
            command.network && !offline);
}

// Downloads follow the current source and run every time; all other commands have already changed the source.
bool runs_again(const plan::Action& action, const plan::BuildSpec& spec) {
  const auto* command = std::get_if<plan::RunCommand>(&action.what);
  return command != nullptr && command->network && spec.source.incremental;
}

// Requirements that only the backend knows (setup_requires, a cmake that scikit-build-core misses).
std::vector<std::string> missing_requirements(const plan::CallHook& call, const env::Lock& lock, ToolRunner& tools) {
  std::vector<std::string> missing;
  for (const std::string& requirement : tools.call_hook(call).texts()) {
    const std::string name = pep::normalized_name(pep::Requirement::parse(requirement).name);
    const bool dropped = std::find(call.dropped.begin(), call.dropped.end(), name) != call.dropped.end();
    if (!dropped && lock.find(name) == nullptr) missing.push_back(requirement);
  }
  return missing;
}

}  // namespace

void prepare(const Job& job, const recipe::Rules& rules, SourceTree& tree, BuildEnvironment& environment,
             ToolRunner& tools, const StepServices& services) {
  services.report.phase(plan::Phase::prepare);
  const plan::BuildSpec& spec = job.spec;
  if (rules.requires_versions.uses_torch) check_torch(spec, environment, tools, services);
  if (!tree.prepared) mark_preparing(spec, tree);
  const plan::CallHook* hook = nullptr;
  for (const plan::Action& action : spec.actions) {
    if (action.phase != plan::Phase::prepare) continue;
    if (const auto* file = std::get_if<plan::WriteFile>(&action.what)) {
      // An incremental source has just restored its own files.
      if (!tree.prepared || spec.source.incremental) write_file(*file, tree, tools, services.report);
    } else if (const auto* call = std::get_if<plan::CallHook>(&action.what)) {
      hook = call;
    } else if (tree.prepared && !runs_again(action, spec)) {
      continue;
    } else if (const auto* command = std::get_if<plan::RunCommand>(&action.what)) {
      run_command(*command, tools, job.offline);
    } else if (const auto* patch = std::get_if<plan::ApplyPatch>(&action.what)) {
      source::apply_patches(tree.source, {patch->patch});
    }
  }
  if (!tree.prepared) mark_prepared(spec, tree);
  if (hook == nullptr) return;
  const std::vector<std::string> more = missing_requirements(*hook, environment.lock, tools);
  if (more.empty()) return;
  if (!spec.environment.isolated) {
    const env::UnmetRequirements unmet = env::unmet_requirements(more, spec.environment.installed, spec.python);
    for (const std::string& requirement : unmet.other_version)
      services.report.note(fmt::format("the backend requires {}; building with the installed version", requirement));
    if (unmet.missing.empty()) return;
    throw Error(
        fmt::format("the backend also requires {}, which {} does not have; --no-build-isolation installs nothing",
                    join(unmet.missing, ", "), spec.python.executable.string()));
  }
  services.report.note("the backend also requires " + join(more, ", "));
  extend_environment(environment, more, job, tree, services);
  if (rules.requires_versions.uses_torch) check_torch(spec, environment, tools, services);
}

}  // namespace wheelsmith::run
