#include "run/step/run_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "wheel/write/clean_run_paths.h"
#include "wheel/write/edit.h"

// Linkers and build systems write folders of the build machine into binaries: the interpreter's lib folder, the build
// tree, environments and toolkits. On other machines these are missing, or contain unrelated libraries. They are
// removed first, so that the SBOM, the checks and the tests see the final bytes.

namespace wheelsmith::run {

namespace {

constexpr std::size_t k_most_told = 3;

std::string told(const std::set<std::string>& entries) {
  std::vector<std::string> shown;
  for (const std::string& entry : entries) {
    if (shown.size() == k_most_told) break;
    shown.push_back(entry.empty() ? "an empty entry" : printable(entry));
  }
  const std::size_t more = entries.size() - shown.size();
  return join(shown, ", ") + (more == 0 ? "" : fmt::format(" and {} more", more));
}

}  // namespace

std::optional<PortableWheel> without_machine_run_paths(const FinishInputs& inputs, const wheel::Inspection& inspection,
                                                       Bytes built, const StepServices& services) {
  const auto& accepted = inputs.rules.checks.accepted;
  if (std::any_of(accepted.begin(), accepted.end(), [](const auto& each) { return each.first == "runpath-absolute"; }))
    return std::nullopt;
  PortableWheel result;
  wheel::WheelEdit edit;
  edit.recompress = false;
  edit.threads = usable_threads();
  for (const wheel::CleanedRunPath& file : wheel::clean_run_paths(built, inspection.elf)) {
    if (file.edited == nullptr) {
      services.report.note(fmt::format("kept the RPATH of {}: {}", printable(file.path), file.problem));
      continue;
    }
    edit.elf_edits[file.path] = file.edited;
    result.removed.emplace_back(file.path, file.removed.size());
    result.entries.insert(file.removed.begin(), file.removed.end());
  }
  if (edit.elf_edits.empty()) return std::nullopt;
  const std::filesystem::path folder = services.store.temporary() / "run-paths";
  sys::make_folders(folder);
  result.path = folder / inputs.built.filename();
  sys::AtomicFile target(result.path);
  (void)wheel::edit_wheel(inputs.built.string(), built, edit, target);
  target.commit();
  services.report.note(
      fmt::format("removed from the RPATH of {}: {}", counted(result.removed.size(), "file"), told(result.entries)));
  return result;
}

}  // namespace wheelsmith::run
