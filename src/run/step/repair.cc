#include "run/step/repair.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "base/text.h"
#include "surgery/input_wheel.h"
#include "surgery/repair/repair.h"
#include "sys/file.h"
#include "sys/files.h"

// `repair` at the end of a build. It runs outside the sandbox, on binaries whose run paths foreign code has chosen, so
// libraries are taken only from the system's folders, the toolkits, the step's environment and the step's own tree.

namespace wheelsmith::run {

namespace {

class AllowedFolders {
 public:
  AllowedFolders(const FinishInputs& inputs, const StepServices& services) {
    for (const char* folder : {"/usr", "/lib", "/lib64", "/opt"}) add(folder);
    add(services.store.tree(inputs.spec.identity));
    add(inputs.environment.environment.root);
    for (const std::filesystem::path& folder : {inputs.environment.toolkit, inputs.environment.rocm}) add(folder);
    for (const std::filesystem::path& folder : inputs.environment.sites) add(folder);
  }

  [[nodiscard]] bool contain(const std::string& path) const {
    std::error_code error;
    const std::string real = std::filesystem::canonical(path, error).string();
    return !error && std::ranges::any_of(m_folders, [&](const std::string& one) { return real.starts_with(one); });
  }

 private:
  void add(const std::filesystem::path& folder) {
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(folder, error);
    if (!folder.empty() && !error && real != "/") m_folders.push_back(real.string() + "/");
  }

  std::vector<std::string> m_folders;
};

}  // namespace

void repair_finished(const FinishInputs& inputs, const std::set<std::string>& run_paths, std::int64_t time,
                     FinishedWheel& finished, const StepServices& services) {
  const recipe::RepairRules& rules = inputs.rules.repair;
  surgery::RepairRequest request;
  if (!inputs.spec.platform.empty()) request.platform = inputs.spec.platform;
  request.strip = rules.strip;
  request.excluded = rules.exclude;
  request.excluded.insert(request.excluded.end(), inputs.rules.checks.provided.begin(),
                          inputs.rules.checks.provided.end());
  request.graft = rules.graft;
  request.missing_help = "Install them below /usr or /opt, or leave them outside with [repair] exclude in the recipe";
  const AllowedFolders allowed(inputs, services);
  surgery::LibrarySource source = surgery::machine_libraries();
  for (wheel::LoaderMachine* machine : {&source.glibc, &source.musl}) {
    machine->library_at = [&allowed](const std::string& path) {
      return allowed.contain(path) ? surgery::library_at(path) : std::nullopt;
    };
    for (const std::string& folder : run_paths) {
      if (folder.starts_with('/')) machine->library_path.push_back(folder);
    }
  }
  surgery::WriteOptions options;
  options.out = services.store.temporary() / "repaired";
  options.time = time;
  options.threads = usable_threads();
  sys::make_folders(options.out);
  surgery::Item item;
  try {
    surgery::InputWheel input(finished.path.string(), sys::map_file(finished.path));
    surgery::repair(input, request, source, options, item);
  } catch (const Error& error) {
    throw WheelRefused(fmt::format("the wheel cannot be repaired, which the recipe asks for: {}", error.what()));
  }
  for (const std::string& note : item.notes) services.report.note(note);
  if (item.outputs.empty()) return;  // it needs no library that is not there
  finished.path = item.outputs.front().path;
  finished.sha256 = item.outputs.front().sha256;
  services.report.note(
      fmt::format("repaired: {} ({})", finished.path.filename().string(), human_bytes(item.outputs.front().bytes)));
}

}  // namespace wheelsmith::run
