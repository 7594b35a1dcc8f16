// An editable install: the package is built in the user's own folder, and the environment gets links to that folder
// instead of files. The backend's output there (its build folder, extension modules beside the sources) tells the next
// build what has changed, so it stays, also after a failure.

#include <fmt/format.h>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "env/installer.h"
#include "pep/wheel_name.h"
#include "run/step/links.h"
#include "run/step/phases.h"
#include "run/step/tool_runner.h"
#include "run/wheel_tests.h"
#include "sys/files.h"

namespace wheelsmith::run {

namespace {

// The environment's own interpreter links the folder; the build requirements may be installed in another environment.
std::vector<std::string> develop_command(const Job& job, const BuildEnvironment& environment,
                                         const plan::CallHook& call) {
  const toolchain::Python& python = job.spec.python;
  std::vector<std::string> command;
  if (environment.environment.site_packages != python.purelib) {
    std::string path = "PYTHONPATH=" + environment.environment.site_packages.string();
    for (const std::filesystem::path& site : environment.sites) path += ":" + site.string();
    if (const std::string* own = job.spec.variable("PYTHONPATH")) path += ":" + *own;
    command = {"env", path};
  }
  command.insert(command.end(), {python.executable.string(), "setup.py", "develop", "--no-deps"});
  for (const auto& [name, value] : call.config) {
    if (name == "--build-option") command.push_back(value);
  }
  return command;
}

void develop(const Job& job, const SourceTree& tree, const BuildEnvironment& environment, const plan::CallHook& call,
             ToolRunner& tools, const StepServices& services) {
  std::error_code ignored;
  if (!std::filesystem::exists(tree.package / "setup.py", ignored))
    throw Error(
        fmt::format("the build backend of {} has no build_editable hook (PEP 660), and there is no setup.py for "
                    "`setup.py develop`; a newer version of the backend may have the hook",
                    tree.package.string()));
  services.report.note("the build backend has no build_editable hook (PEP 660); running setup.py develop");
  // `setup.py develop` does not remove an installed version, which Python would find first.
  if (env::uninstall(job.spec.project, env::install_target(job.spec.python)))
    services.report.note(fmt::format("uninstalled {} from {}", job.spec.project, job.spec.python.prefix.string()));
  tools.run(develop_command(job, environment, call), "setup.py develop");
}

std::filesystem::path editable_wheel_in(const std::filesystem::path& folder, const std::string& name,
                                        const std::string& project) {
  std::error_code ignored;
  if (name.empty() || name.find('/') != name.npos || !std::filesystem::exists(folder / name, ignored))
    throw Error("the build_editable hook succeeded but produced no wheel");
  const std::string made = pep::WheelName::parse(name).name;
  if (!pep::same_name(made, project))
    throw WheelRefused(fmt::format("the build produced {}, but the recipe's project is {}", printable(name), project));
  return folder / name;
}

}  // namespace

std::filesystem::path build_in_place(const Job& job, const SourceTree& tree, const BuildEnvironment& environment,
                                     ToolRunner& tools, const StepServices& services) {
  services.report.phase(plan::Phase::build);
  const std::filesystem::path dist = tree.tree / "dist";
  sys::remove_tree(dist);
  sys::make_folders(dist);
  for (const plan::CallHook* call : job.spec.all<plan::CallHook>(plan::Phase::build)) {
    const document::Value name = tools.call_hook(*call);
    if (!name.is_null()) return editable_wheel_in(dist, name.text_or(), job.spec.project);
    develop(job, tree, environment, *call, tools, services);
  }
  return {};
}

void install_in_place(const Job& job, const SourceTree& tree, const std::filesystem::path& built,
                      const StepServices& services) {
  services.report.phase(plan::Phase::finish);
  const toolchain::Python& python = job.spec.python;
  const env::InstallTarget target = env::install_target(python);
  for (const NeededWheel& need : job.needs) {
    (void)link_needed_wheel(need, tree.tree / "needs", services.store);
    env::install_wheel(tree.tree / "needs" / need.wheel.file_name, target, true, usable_threads());
  }
  std::vector<std::string> missing;
  if (!built.empty()) {
    env::install_editable(built, tree.package, target, usable_threads());
    missing = requirements_missing_in(python, built);
  }
  services.report.note(fmt::format("{} is installed in {} as a link to {} (editable)", job.spec.project,
                                   python.prefix.string(), tree.package.string()));
  if (!missing.empty())
    services.report.note(fmt::format("warning: {0} requires packages that are not installed: {1} -m pip install {2}",
                                     job.spec.project, python.executable.string(), sys::shell_quoted(missing)));
  if (!job.spec.archs.requests.empty())
    services.report.note(
        "architectures are not checked in an editable install; `wheelsmith inspect FILE.so` shows them");
}

}  // namespace wheelsmith::run
