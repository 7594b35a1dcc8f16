// Tests of a finished wheel: in a fresh environment with only the wheel and its dependencies, started outside any
// source tree (a test started inside one imports the source, not the wheel). A test that needs a GPU on a machine
// without one reports "not-run"; it never passes.

#include "run/wheel_tests.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "env/installed.h"
#include "pep/metadata/metadata.h"
#include "pep/wheel_name.h"
#include "run/sandbox.h"
#include "sys/file.h"
#include "sys/files.h"
#include "wheel/check/check.h"
#include "wheel/read/wheel_tree.h"
#include "zip/archive.h"

namespace wheelsmith::run {

namespace {

// The wheel's own Requires-Dist, without extras.
std::vector<std::string> own_requirements(Bytes file) {
  const zip::Archive archive = zip::Archive::open(file);
  for (const zip::Entry& entry : archive.entries()) {
    if (!entry.name.ends_with(".dist-info/METADATA") || entry.name.find('/') != entry.name.rfind('/')) continue;
    std::vector<std::string> result;
    for (const std::string& text : pep::Headers::parse(archive.read(entry).bytes).all("Requires-Dist")) {
      // `extra` counts only in the marker after the ';', not in a package name.
      const std::size_t marker = text.find(';');
      if (marker == text.npos || text.find("extra", marker) == text.npos) result.push_back(text);
    }
    return result;
  }
  return {};
}

bool has_gpu(recipe::Variant variant, const std::vector<toolchain::Gpu>& gpus) {
  const gpu::Vendor vendor = variant == recipe::Variant::rocm ? gpu::Vendor::amd : gpu::Vendor::nvidia;
  return variant != recipe::Variant::cpu &&
         std::any_of(gpus.begin(), gpus.end(), [&](const toolchain::Gpu& gpu) { return gpu.arch.vendor == vendor; });
}

// The most informative line: an exception's message comes last, a crash is reported before the stack.
std::string last_words(const sys::Exit& exit, const std::string& output) {
  std::string_view last;
  for (const std::string_view line : lines(output)) {
    if (exit.signal != 0 && line.starts_with("Fatal Python error")) return printable(line.substr(0, 300));
    if (!trim(line).empty()) last = trim(line);
  }
  return printable(last.substr(0, 300));
}

// The parts of the user's environment that a test may see: GPU access, nothing about Python.
sys::Environment test_environment(const env::Environment& environment, const std::filesystem::path& home,
                                  const sys::Environment& ours) {
  sys::Environment result = {{"PATH", environment.root.string() + "/bin:/usr/local/bin:/usr/bin:/bin"},
                             {"HOME", home.string()},
                             {"TMPDIR", (home.parent_path() / "tmp").string()},
                             {"LANG", "C.UTF-8"},
                             {"PYTHONNOUSERSITE", "1"},
                             {"PYTHONUNBUFFERED", "1"},
                             // Environments in the store are shared and must not change.
                             {"PYTHONPYCACHEPREFIX", (home / "pycache").string()},
                             // Prints a stack when a signal kills the interpreter.
                             {"PYTHONFAULTHANDLER", "1"}};
  for (const char* name :
       {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "ROCM_PATH"}) {
    if (const auto found = ours.find(name); found != ours.end()) result[name] = found->second;
  }
  return result;
}

std::vector<std::string> arguments(const recipe::Test& test, const std::map<std::string, std::string>& values) {
  if (!test.command.empty()) {
    std::vector<std::string> words;
    for (const std::string& word : test.command) words.push_back(recipe::expand(word, values));
    return words;
  }
  std::string script;
  for (const std::string& module : test.imports) script += "import " + module + "\n";
  return {"-c", script + test.script};
}

std::string id_of(const recipe::Test& test, std::size_t place) {
  if (!test.name.empty()) return test.name;
  if (!test.imports.empty()) return "import " + test.imports.front();
  return fmt::format("test {}", place + 1);
}

// Requirements of a test that the user's environment does not have.
std::vector<std::string> missing_for(const recipe::Test& test, const TestBench& bench) {
  if (bench.isolated && !bench.in_place) return {};
  std::vector<std::string> missing =
      env::unmet_requirements(test.requires_, env::installed_packages(bench.python), bench.python).missing;
  if (bench.in_place && !bench.wheel.empty()) {
    for (std::string& text : requirements_missing_in(bench.python, bench.wheel)) missing.push_back(std::move(text));
  }
  return missing;
}

struct TestEnvironment : env::Environment {
  std::vector<std::filesystem::path> sites{};  // of further environments, searched after its own
};

// A test sees its environment and the environments behind it, but not the wheel file, so that it cannot change what is
// published.
sys::SandboxPolicy test_policy(const TestBench& bench, const TestEnvironment& environment,
                               const std::filesystem::path& folder, const std::filesystem::path& files,
                               const recipe::Test& test) {
  PolicyMaker maker(bench.sandbox, bench.store.roots());
  maker.python(bench.python);
  maker.read(environment.root);
  maker.site(environment.site_packages);
  for (const std::filesystem::path& site : environment.sites) maker.site(site);
  if (bench.in_place) {
    for (const std::filesystem::path& site : bench.python.sites) maker.site(site);
    if (!bench.source.empty()) maker.write(bench.source);  // meson-python compiles on import
  }
  for (const char* name : {"LD_LIBRARY_PATH", "ROCM_PATH"}) {
    const auto found = bench.host.environment.find(name);
    if (found == bench.host.environment.end()) continue;
    for (const std::filesystem::path& path : paths_in(found->second)) maker.read(path);
  }
  for (const std::filesystem::path& path : {folder / "home", folder / "tmp", files}) maker.write(path);
  maker.temporary(folder / "tmp");
  if (test.gpu) maker.gpu_devices();
  maker.network(test.network);
  maker.opened_by_recipe(test.open);
  return maker.policy();
}

TestEnvironment fresh_environment(const TestBench& bench, const std::filesystem::path& folder) {
  const Blob file = sys::map_file(bench.wheel);
  std::vector<std::string> requirements = bench.requirements;
  for (const std::string& text : own_requirements(file.bytes)) {
    const std::string name = pep::normalized_name(pep::Requirement::parse(text).name);
    // A torch provided by an environment of the machine is not installed again.
    if (name != "torch" || bench.torch_sites.empty()) requirements.push_back(text);
  }
  for (const recipe::Test& test : bench.rules.tests)
    requirements.insert(requirements.end(), test.requires_.begin(), test.requires_.end());
  env::Lock lock;
  if (bench.isolated && !requirements.empty()) {
    env::ResolveOptions options;
    options.offline = bench.offline;
    options.wheelhouses = bench.wheelhouses;
    options.constraints = bench.constraints;
    options.index_urls = bench.index_urls;
    options.prereleases = bench.prereleases;
    lock = env::resolve(requirements, bench.python, bench.fetcher, bench.store, options);
  }
  const env::Environment base =
      env::make_environment(bench.python, lock, bench.torch_sites, bench.fetcher, bench.store);
  std::vector<std::filesystem::path> sites = {base.site_packages};
  sites.insert(sites.end(), bench.torch_sites.begin(), bench.torch_sites.end());
  const TestEnvironment environment{env::make_scratch_environment(bench.python, sites, folder), sites};
  env::install_wheel(bench.wheel, env::install_target(environment), false, usable_threads());
  return environment;
}

// Why a test cannot run here; "" when it can.
std::string why_not(const TestBench& bench, const recipe::Test& test, const std::vector<toolchain::Gpu>& gpus) {
  if (test.gpu && !has_gpu(bench.variant, gpus)) return "no GPU";
  if (const auto missing = missing_for(test, bench); !missing.empty()) return "not installed: " + join(missing, ", ");
  if (!test.files.empty() && bench.source.empty()) return "the source is not available";
  for (const std::string& file : test.files) {
    std::error_code unreadable;
    if (!std::filesystem::exists(bench.source / file, unreadable)) return "the source has no " + file;
  }
  return "";
}

// A folder for the test with copies of its files: Python finds the wheel there and nothing of the source.
std::filesystem::path test_folder(const TestBench& bench, const recipe::Test& test, const std::filesystem::path& home,
                                  std::size_t place) {
  if (test.files.empty()) return home;
  // Not below `home`, which earlier tests could write to: a link there would redirect our copies.
  const std::filesystem::path folder = home.parent_path() / fmt::format("test-{}", place + 1);
  for (const std::string& file : test.files) {
    const std::filesystem::path to = folder / file;
    sys::make_folders(to.parent_path());
    // The package's own scripts may have placed a link to one of the user's files.
    std::error_code error;  // for example, a link to itself
    if (!sys::is_within(std::filesystem::weakly_canonical(bench.source / file, error), bench.source_root) || error)
      throw Error(fmt::format("the test's file {} is a symbolic link that points outside the source", printable(file)));
    if (sys::is_folder(bench.source / file))
      sys::copy_tree(bench.source / file, to);
    else
      sys::copy_file(bench.source / file, to);
  }
  return folder;
}

}  // namespace

std::vector<std::string> requirements_missing_in(const toolchain::Python& python, const std::filesystem::path& wheel) {
  const Blob file = sys::map_file(wheel);
  return env::unmet_requirements(own_requirements(file.bytes), env::installed_packages(python), python).missing;
}

std::vector<TestOutcome> untested(const recipe::Rules& rules) {
  std::vector<TestOutcome> outcomes;
  for (std::size_t i = 0; i < rules.tests.size(); ++i)
    outcomes.push_back({id_of(rules.tests[i], i), TestResult::not_run, "--no-test"});
  return outcomes;
}

std::vector<TestOutcome> run_tests(const TestBench& bench) {
  std::vector<TestOutcome> outcomes;
  if (bench.rules.tests.empty()) return outcomes;
  const std::vector<toolchain::Gpu> gpus = toolchain::find_gpus(bench.host);
  const std::map<std::string, std::string> values = {
      {"archs", bench.archs.requests.empty() ? "" : recipe::spell(bench.archs, bench.rules.archs)},
      {"variant", std::string(recipe::to_string(bench.variant))}};
  // In the store, where leftovers of a killed process are recognized and removed.
  const sys::TempDir temporary(bench.store.temporary());
  const std::filesystem::path& folder = temporary.path();
  const TestEnvironment environment =
      bench.in_place
          ? TestEnvironment{{"", bench.python.prefix, bench.python.executable, bench.python.purelib}, bench.torch_sites}
          : fresh_environment(bench, folder / "env");
  const std::filesystem::path home = folder / "home";
  sys::make_folders(home);
  for (std::size_t i = 0; i < bench.rules.tests.size(); ++i) {
    const recipe::Test& test = bench.rules.tests[i];
    TestOutcome outcome{id_of(test, i), TestResult::pass, ""};
    if (const std::string why = why_not(bench, test, gpus); !why.empty()) {
      outcome = {outcome.id, TestResult::not_run, why};
    } else {
      sys::Command command;
      command.argv = {environment.python.string()};
      for (const std::string& word : arguments(test, values)) command.argv.push_back(word);
      command.environment = test_environment(environment, home, bench.host.environment);
      command.folder = test_folder(bench, test, home, i);
      command.timeout = std::chrono::minutes(30);
      sys::remove_tree(folder / "tmp");
      sys::make_folders(folder / "tmp");
      command.no_network = !test.network && sys::can_isolate_network();
      if (sandbox_mode(bench.sandbox) != sys::SandboxMode::off)
        command = sys::in_sandbox(command, test_policy(bench, environment, folder, command.folder, test));
      std::string output;
      sys::Process process(command);
      const sys::Exit exit = process.wait(
          [&](std::string_view text) {
            if (output.size() < (1 << 20)) output += text;
          },
          [] { return sys::interrupted(); });
      bench.log(
          fmt::format("wheelsmith: test {}\n{}\n{}", outcome.id, output,
                      exit.good() ? "" : fmt::format("wheelsmith: test {}: {}\n", outcome.id, sys::to_string(exit))));
      if (sys::interrupted()) throw Error("interrupted");
      if (!exit.good())
        outcome = {outcome.id, TestResult::fail, fmt::format("{}: {}", sys::to_string(exit), last_words(exit, output))};
    }
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

bool WheelTest::good() const {
  return error.empty() &&
         std::none_of(tests.begin(), tests.end(),
                      [](const TestOutcome& test) { return test.outcome == TestResult::fail; }) &&
         std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.severity == Severity::error; });
}

}  // namespace wheelsmith::run
