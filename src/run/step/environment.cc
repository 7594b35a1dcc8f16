#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "env/rocm_wheels.h"
#include "run/step/links.h"
#include "run/step/phases.h"
#include "sys/file.h"
#include "sys/files.h"
#include "toolchain/library/library.h"

namespace wheelsmith::run {

namespace {

env::ResolveOptions resolve_options(const Job& job) {
  env::ResolveOptions options;
  options.offline = job.offline;
  options.wheelhouses = job.spec.environment.torch.wheelhouses;
  options.index_urls = job.spec.environment.torch.index_urls;
  options.prereleases = job.spec.environment.torch.prereleases;
  return options;
}

// Links ROCm, wherever it is installed, as ${tree}/rocm.
void link_rocm(BuildEnvironment& result, const plan::BuildSpec& spec, const SourceTree& tree,
               const StepServices& services) {
  if (spec.variant != recipe::Variant::rocm) return;
  const plan::RocmSpec& rocm = spec.tools.rocm;
  result.rocm = rocm.root;
  if (!rocm.lock.wheels.empty()) {
    const env::Environment wheels = env::make_environment(spec.python, rocm.lock, {}, services.fetcher, services.store);
    result.rocm = env::make_rocm(wheels, services.store);
    // A torch built with these wheels imports them.
    result.sites.push_back(wheels.site_packages);
    services.report.note(fmt::format("using ROCm {} assembled from wheels", rocm.index_version));
  }
  if (result.rocm.empty()) {  // only with --despite-doctor; some rocm variants compile nothing
    services.report.note("no ROCm found");
    return;
  }
  std::error_code error;
  if (!std::filesystem::exists(result.rocm / "bin/hipcc", error))
    throw Error(fmt::format("{}, which the plan uses as ROCm, has no bin/hipcc", result.rocm.string()));
  link(result.rocm, tree.tree / "rocm");
}

// Only the wheels of other steps; their dependencies are in the interpreter's environment.
env::Lock lock_of_needs(const Job& job, const SourceTree& tree, const StepServices& services) {
  env::Lock lock;
  for (const NeededWheel& need : job.needs) {
    const std::string url = link_needed_wheel(need, tree.tree / "needs", services.store);
    lock.wheels.push_back(
        {need.project, need.version, need.wheel.file_name, url.substr(url.find("file:")), need.wheel.sha256});
  }
  std::sort(lock.wheels.begin(), lock.wheels.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return lock;
}

// Build systems record the interpreter. Without isolation, an editable install is built with the user's own
// interpreter, so that a build started by hand in the same folder can resume from it. Wheels of other steps need an
// environment that may be modified.
bool builds_in_own_environment(const Job& job) {
  std::error_code ignored;
  return job.spec.editable && !job.spec.environment.isolated && job.needs.empty() &&
         std::filesystem::exists(job.spec.python.prefix / "bin" / "python", ignored);
}

void link_tools(const plan::ToolSpec& tools, const std::filesystem::path& bin) {
  const bool clang = tools.compiler_family == "clang";
  const auto compiler = [&](const std::string& real, const char* plain, const char* own) {
    if (real.empty()) return;
    link(real, bin / plain);
    link(real, bin / own);
  };
  compiler(tools.cc, "cc", clang ? "clang" : "gcc");
  compiler(tools.cxx, "c++", clang ? "clang++" : "g++");
  for (const auto& [name, path] : tools.programs) link(path, bin / name);
}

// Actions that follow from the wheels in the environment.
void make_toolkit(BuildEnvironment& result, const plan::CudaSpec& cuda, store::Store& store) {
  if (!cuda.index_version.empty()) result.toolkit = env::make_toolkit(result.environment, store);
  if (!cuda.root.empty()) result.toolkit = cuda.root;
}

// Every entry of a folder that matches a pattern.
void link_matches(const std::filesystem::path& folder, const std::vector<std::string>& patterns,
                  const std::filesystem::path& into) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const auto matches = [&](const std::string& pattern) { return glob_match(pattern, name); };
    if (std::any_of(patterns.begin(), patterns.end(), matches)) link(entry.path(), into / name);
  }
}

// Links a library, whatever its layout, as ${tree}/libraries/NAME/include and lib, under the name that linkers expect.
void link_library(const toolchain::Library& library, const std::filesystem::path& into) {
  const toolchain::LibraryKind* kind = toolchain::find_library_kind(library.name);
  if (kind == nullptr || !kind->is_linked() || library.state() != toolchain::Library::State::found) return;
  std::error_code error;
  for (const std::filesystem::path& half : {library.header, library.file}) {
    if (!std::filesystem::exists(half, error))
      throw Error(fmt::format("{}, which the plan uses as {}, does not exist", half.string(), kind->title));
  }
  for (const char* folder : {"include", "lib"}) sys::make_folders(into / folder);
  link_matches(toolchain::include_folder(library), kind->link_headers, into / "include");
  link_matches(library.file.parent_path(), kind->link_files, into / "lib");
  const std::filesystem::path name = into / "lib" / kind->link_name();
  if (!std::filesystem::exists(name, error)) link(library.file, name);
}

void link_libraries(const BuildEnvironment& environment, const plan::BuildSpec& spec, const SourceTree& tree) {
  const std::filesystem::path folder = tree.tree / "libraries";
  sys::remove_tree(folder);
  const auto real = [&](const std::filesystem::path& path) {
    std::string text = path.string();
    replace_all(text, "${env}", environment.environment.root.string());
    replace_all(text, "${toolkit}", environment.toolkit.string());
    replace_all(text, "${rocm}", (tree.tree / "rocm").string());
    return std::filesystem::path(text);
  };
  for (toolchain::Library library : spec.tools.libraries) {
    library.header = real(library.header);
    library.file = real(library.file);
    link_library(library, folder / library.name);
  }
}

}  // namespace

BuildEnvironment make_environment(const Job& job, const SourceTree& tree, const StepServices& services) {
  services.report.phase(plan::Phase::environment);
  const plan::BuildSpec& spec = job.spec;
  BuildEnvironment result;
  if (spec.source.kind == source::Pin::Kind::program) return result;  // packed by this program, without dependencies
  result.lock = job.rebuild ? *job.rebuild : spec.environment.lock;
  if (!spec.environment.isolated) {
    if (!job.rebuild) result.lock = lock_of_needs(job, tree, services);
    result.sites = spec.python.sites;
  } else if (spec.environment.resolve_late && !job.rebuild) {
    env::ResolveOptions options = resolve_options(job);
    std::vector<std::string> requirements = spec.environment.requirements;
    for (const NeededWheel& need : job.needs)
      (need.direct ? requirements : options.constraints)
          .push_back(link_needed_wheel(need, tree.tree / "needs", services.store));
    result.lock = env::resolve(requirements, spec.python, services.fetcher, services.store, options);
  }
  if (spec.environment.isolated && spec.environment.torch.kind == choose::TorchChoice::Kind::environment) {
    const toolchain::Python other = toolchain::find_python(spec.environment.torch.python.string(), services.host);
    result.sites = {other.purelib};
    if (other.platlib != other.purelib) result.sites.push_back(other.platlib);
  }
  link_rocm(result, spec, tree, services);
  result.environment =
      builds_in_own_environment(job)
          ? env::Environment{"", spec.python.prefix, spec.python.prefix / "bin" / "python", spec.python.purelib}
          : env::make_environment(spec.python, result.lock, result.sites, services.fetcher, services.store);
  make_toolkit(result, spec.tools.cuda, services.store);
  link_tools(spec.tools, tree.tree / "bin");
  link_libraries(result, spec, tree);
  return result;
}

void extend_environment(BuildEnvironment& environment, const std::vector<std::string>& more, const Job& job,
                        const SourceTree& tree, const StepServices& services) {
  const plan::BuildSpec& spec = job.spec;
  std::vector<std::string> requirements =
      environment.lock.requirements.empty() ? spec.environment.requirements : environment.lock.requirements;
  requirements.insert(requirements.end(), more.begin(), more.end());
  env::ResolveOptions options = resolve_options(job);
  for (const NeededWheel& need : job.needs) {
    if (!need.direct) options.constraints.push_back(link_needed_wheel(need, tree.tree / "needs", services.store));
  }
  environment.lock = env::resolve(requirements, spec.python, services.fetcher, services.store, options);
  environment.environment =
      env::make_environment(spec.python, environment.lock, environment.sites, services.fetcher, services.store);
  make_toolkit(environment, spec.tools.cuda, services.store);
  link_libraries(environment, spec, tree);
}

}  // namespace wheelsmith::run
