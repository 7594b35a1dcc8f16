// ROCm inside a step: whatever it is and wherever it lies, the step sees it as ${tree}/rocm.

#include <fmt/format.h>

#include "base/error.h"
#include "env/rocm_wheels.h"
#include "run/step_runner.h"
#include "sys/file.h"

namespace wheelsmith::run {

void StepRunner::prepare_rocm() {
  const plan::Step& step = m_job.step;
  if (step.variant != recipe::Variant::rocm) return;
  std::filesystem::path root = step.rocm_root;
  if (!step.rocm_lock.wheels.empty()) {
    const env::Environment wheels = env::make_environment(step.python, step.rocm_lock, {}, m_fetcher, m_store);
    root = env::make_rocm(wheels, m_store);
    // A torch that was built with these wheels imports them.
    m_torch_sites.push_back(wheels.site_packages);
    note(fmt::format("ROCm {} made from wheels", step.registry_rocm));
  }
  if (root.empty()) {  // only with --despite-doctor; some packages have a rocm variant without compiling anything
    note("no ROCm is here");
    return;
  }
  std::error_code error;
  if (!std::filesystem::exists(root / "bin/hipcc", error))
    throw Error(fmt::format("{}, which the plan took for ROCm, has no bin/hipcc", root.string()));
  const std::filesystem::path link = m_tree / "rocm";
  std::filesystem::remove(link, error);
  std::filesystem::create_directory_symlink(root, link, error);
  if (error) sys::throw_sys_error(error.value(), "link", link);
  // What is built is linked with its libraries, and the tests have to find them.
  std::string& libraries = m_host.environment["LD_LIBRARY_PATH"];
  libraries = (root / "lib").string() + (libraries.empty() ? "" : ":" + libraries);
}

}  // namespace wheelsmith::run
