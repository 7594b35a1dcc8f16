#include <fmt/format.h>

#include "base/error.h"
#include "base/parallel.h"
#include "pep/wheel_name.h"
#include "run/step/phases.h"
#include "run/step/tool_runner.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/process.h"
#include "wheel/write/edit.h"

namespace wheelsmith::run {

namespace {

// setuptools copies Python files into build/lib and packs that folder, so files deleted from the source would stay in
// the wheel. Extension modules may stay; they are rebuilt when their inputs change.
void remove_stale_copies(const std::filesystem::path& package) {
  std::error_code error;
  if (std::filesystem::is_symlink(package / "build", error)) return;
  for (const auto& entry : std::filesystem::directory_iterator(package / "build", error)) {
    if (!entry.path().filename().string().starts_with("lib") || entry.is_symlink() || !entry.is_directory()) continue;
    for (const sys::TreeFile& file : sys::list_tree(entry.path())) {
      if (!file.name.ends_with(".so")) sys::remove_tree(entry.path() / file.name);
    }
  }
}

std::filesystem::path only_wheel_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> wheels;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    // Following a link here would leave the sandbox that made it.
    if (entry.path().extension() == ".whl" && entry.symlink_status(error).type() == std::filesystem::file_type::regular)
      wheels.push_back(entry.path());
  }
  if (wheels.size() == 1) return wheels.front();
  throw Error(wheels.empty() ? "the build succeeded but produced no wheel"
                             : fmt::format("the build produced {} wheels instead of one", wheels.size()));
}

// Packs this static program as a wheel, the way ruff, uv and ninja are shipped.
std::filesystem::path pack_program(const plan::BuildSpec& spec, const std::string& summary,
                                   const std::filesystem::path& folder) {
  const Blob program = sys::map_file(sys::own_executable());
  const std::string version = WHEELSMITH_VERSION;
  wheel::NewWheel wheel;
  wheel.threads = usable_threads();
  wheel.name.name = pep::escaped_name(spec.project);
  wheel.name.version = version;
  wheel.name.python = "py3";
  wheel.name.abi = "none";
  wheel.name.platform = spec.python.platform;
  wheel.metadata = fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\nSummary: {}\nRequires-Python: >=3.8\n",
                               spec.project, version, summary);
  zip::NewMember member;
  member.name = fmt::format("{}-{}.data/scripts/wheelsmith", wheel.name.name, version);
  member.mode = 0755;
  member.size = program.bytes.size();
  member.open = [program] { return program; };
  wheel.members.push_back(std::move(member));
  sys::AtomicFile target(folder / "program.whl");
  const wheel::EditedWheel made = wheel::pack_wheel(wheel, target);
  target.commit();
  std::filesystem::rename(folder / "program.whl", folder / made.file_name);
  return folder / made.file_name;
}

}  // namespace

std::filesystem::path build(const Job& job, const recipe::Recipe& recipe, const SourceTree& tree, ToolRunner& tools,
                            const StepServices& services) {
  services.report.phase(plan::Phase::build);
  refuse_linked_package(tree);
  if (job.spec.source.incremental) remove_stale_copies(tree.package);
  const std::filesystem::path dist = tree.tree / "dist";
  sys::remove_tree(dist);
  sys::make_folders(dist);
  for (const plan::Action& action : job.spec.actions) {
    if (action.phase != plan::Phase::build) continue;
    if (const auto* command = std::get_if<plan::RunCommand>(&action.what))
      tools.run(command->argv, "setup.py bdist_wheel");
    else if (const auto* call = std::get_if<plan::CallHook>(&action.what))
      (void)tools.call_hook(*call);
    else if (std::holds_alternative<plan::PackProgram>(action.what))
      return pack_program(job.spec, recipe.summary, dist);
  }
  return only_wheel_in(dist);
}

}  // namespace wheelsmith::run
