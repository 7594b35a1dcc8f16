#include <fmt/format.h>

#include "base/error.h"
#include "diagnose/diagnose.h"
#include "run/machine_facts.h"
#include "run/step/links.h"
#include "run/step/phases.h"
#include "run/wheel_tests.h"

namespace wheelsmith::run {

namespace {

// Binaries linked against ROCm libraries must find them.
toolchain::Host host_with_rocm(toolchain::Host host, const std::filesystem::path& rocm) {
  if (rocm.empty()) return host;
  std::string& libraries = host.environment["LD_LIBRARY_PATH"];
  libraries = (rocm / "lib").string() + (libraries.empty() ? "" : ":" + libraries);
  return host;
}

// The known cause of the failure; nothing when only the test itself could tell.
std::optional<diagnose::Cause> cause_of(const std::string& log) {
  std::optional<diagnose::Cause> cause =
      diagnose::diagnose(log, diagnose::builtin_knowledge(), machine_for_remedies(diagnose::Audience::build)).cause;
  return cause && cause->kind != "unknown" ? cause : std::nullopt;
}

}  // namespace

void test(const Job& job, const recipe::Rules& rules, const SourceTree& tree, const FinishedWheel& wheel,
          const BuildEnvironment& environment, StepOutcome& step, const StepServices& services) {
  services.report.phase(plan::Phase::test);
  if (job.no_test) {
    for (TestOutcome& outcome : untested(rules)) step.tests.push_back(std::move(outcome));
    return;
  }
  const plan::BuildSpec& spec = job.spec;
  refuse_linked_package(tree);
  const choose::TorchChoice& torch = spec.environment.torch;
  const toolchain::Host host = host_with_rocm(services.host, environment.rocm);
  std::vector<std::string> logs;
  TestBench bench{.rules = rules,
                  .python = spec.python,
                  .variant = spec.variant,
                  .archs = spec.archs,
                  .wheel = wheel.path,
                  .source = tree.package,
                  .source_root = std::filesystem::weakly_canonical(tree.source),
                  .wheelhouses = torch.wheelhouses,
                  .in_place = spec.editable,
                  .isolated = spec.environment.isolated,
                  .torch_sites = environment.sites,
                  .index_urls = torch.index_urls,
                  .prereleases = torch.prereleases,
                  .offline = job.offline,
                  .store = services.store,
                  .fetcher = services.fetcher,
                  .host = host,
                  .sandbox = job.sandbox,
                  .log = [&](const std::string& text) {
                    services.report.log_text(text);
                    logs.push_back(text);
                  }};
  if (!spec.environment.isolated) {
    // The build's own environment has the wheels of other steps and nothing from the index.
    bench.torch_sites.insert(bench.torch_sites.begin(), environment.environment.site_packages);
  }
  const std::filesystem::path needs = services.store.tree(spec.identity) / "needs";
  for (const NeededWheel& need : spec.editable ? std::vector<NeededWheel>() : job.needs)
    (need.direct ? bench.requirements : bench.constraints).push_back(link_needed_wheel(need, needs, services.store));
  if (const env::PinnedWheel* pinned = environment.lock.find("torch"))
    bench.requirements.push_back("torch==" + pinned->version);
  step.tests = run_tests(bench);
  for (const TestOutcome& outcome : step.tests)
    services.report.note(fmt::format("test {}: {}{}", outcome.id, to_string(outcome.outcome),
                                     outcome.why.empty() ? "" : " (" + outcome.why + ")"));
  for (const TestOutcome& outcome : step.tests) {
    if (outcome.outcome != TestResult::fail) continue;
    // Each entry of the log begins with the name of its test.
    for (const std::string& log : logs) {
      if (log.starts_with(fmt::format("wheelsmith: test {}\n", outcome.id))) step.diagnosis = cause_of(log);
    }
    throw WheelRefused(fmt::format("the test {} failed: {}{}", outcome.id, outcome.why,
                                   spec.editable ? "; the package stays installed" : ""));
  }
}

}  // namespace wheelsmith::run
