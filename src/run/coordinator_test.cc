#include <gtest/gtest.h>

#include <deque>
#include <fstream>

#include "plan/cutoff.h"
#include "run/run.h"
#include "sys/file.h"
#include "sys/files.h"
#include "testing/wheel_builder.h"

namespace wheelsmith::run {

namespace {

namespace fs = std::filesystem;

void put_step(store::Store& store, const plan::BuildSpec& spec, const Artifact& artifact) {
  store::StepRecord record;
  record.key = spec.key;
  record.identity = spec.identity;
  record.manifest = spec.manifest;
  record.wheel_name = artifact.file_name;
  record.wheel_sha256 = artifact.sha256;
  record.wheel_size = artifact.size;
  store.put_step(record);
}

// Ends each step as the test specifies, in order of submission; "built" by default. It knows only the job's document,
// like a cluster node.
class FakeExecutor final : public Executor {
 public:
  explicit FakeExecutor(store::Store& store) : m_store(store) {}

  std::map<std::string, std::deque<std::string>> ends;  // id -> "built", "failed", "lost", one per attempt
  std::vector<Job> jobs;                                // in order of arrival
  std::size_t places = 2;

  [[nodiscard]] std::size_t room() const override { return places - m_running.size(); }
  void submit(Submission submission) override {
    jobs.push_back(Job::from_value(document::parse_json(document::to_json(submission.job.to_value()), "job")));
    m_running.push_back(std::move(submission));
  }
  std::vector<Report> wait() override {
    if (m_running.empty()) return {};
    const Submission one = std::move(m_running.front());
    m_running.pop_front();
    std::deque<std::string>& left = ends[one.job.spec.id];
    const std::string end = left.empty() ? "built" : left.front();
    if (!left.empty()) left.pop_front();
    Report report;
    report.ticket = one.ticket;
    if (end == "lost") {
      report.kind = Report::Kind::lost;
      report.why = "the node died";
      return {report};
    }
    report.kind = Report::Kind::finished;
    if (end == "built") {
      report.outcome.outcome = Outcome::built;
      report.outcome.artifact = artifact_of(one.job.spec);
    } else {
      report.outcome.cause = "it failed";
    }
    return {report};
  }
  void cancel(std::size_t) override {}

 private:
  Artifact artifact_of(const plan::BuildSpec& spec) {
    const fs::path file = m_store.temporary() / "wheel";
    sys::write_file(file, "wheel of " + spec.id);
    Artifact artifact{spec.project + "-1.0-py3-none-any.whl", m_store.put_blob(file), fs::file_size(file)};
    put_step(m_store, spec, artifact);
    return artifact;
  }

  store::Store& m_store;
  std::deque<Submission> m_running;
};

struct Fixture {
  sys::TempDir folder;
  store::Store store{folder.path() / "store"};
  FakeExecutor executor{store};
  plan::Plan plan;
  RunOptions options;
  std::vector<std::string> told;

  Fixture() {
    options.out = folder.path() / "out";
    options.on_event = [this](const Event& event) {
      told.push_back(std::string(enum_name(event.kind)) + " " + event.step);
    };
  }

  plan::Step& add(const std::string& id, std::vector<plan::Edge> needs = {}) {
    plan::Step step;
    step.spec.id = step.spec.identity = step.spec.package = step.spec.project = id;
    step.spec.version = "1.0";
    step.spec.manifest.set("id", id);
    step.spec.key = step.spec.manifest.key();
    step.needs = std::move(needs);
    plan.steps.push_back(std::move(step));
    return plan.steps.back();
  }

  Artifact wheel_of_lib(const std::string& header, const std::string& build) {
    const auto wheel = testing::WheelBuilder("lib", "1.0", "py3-none-any")
                           .add("lib/a.h", header)
                           .add("lib-1.0.dist-info/wheelsmith/provenance.json", build);
    sys::write_file(folder.path() / "wheel", wheel.build());
    return {wheel.file_name(), store.put_blob(folder.path() / "wheel"), wheel.build().size()};
  }

  void put(const plan::BuildSpec& spec, const Artifact& artifact) { put_step(store, spec, artifact); }

  // The step was built with these wheels, when the step that it needs had another key. Returns its key of that time.
  std::string put_earlier(plan::Step& step, const std::string& need,
                          const std::vector<plan::EnvironmentWheel>& wheels) {
    step.spec.manifest.set("step:" + need, "first");
    const std::string key = step.spec.key = step.spec.manifest.key();
    sys::write_file(folder.path() / "wheel", "earlier wheel of " + step.id());
    const auto size = fs::file_size(folder.path() / "wheel");
    put(step.spec, {step.id() + "-1.0-py3-none-any.whl", store.put_blob(folder.path() / "wheel"), size});
    std::vector<plan::SeenWheel> seen;
    for (const plan::EnvironmentWheel& wheel : wheels) {
      const auto interface = plan::stored_interface(wheel.sha256, store);
      if (interface) seen.push_back(plan::seen_wheel(wheel, *interface, {}));
    }
    store.put_seen(key, document::to_json(plan::seen_value(seen)));
    step.spec.manifest.set("step:" + need, "second");
    step.spec.key = step.spec.manifest.key();
    return key;
  }

  // One word per step.
  std::string run() {
    std::string words;
    outcomes = run_plan(plan, store, executor, options);
    for (const StepOutcome& outcome : outcomes) words += std::string(to_string(outcome.outcome)) + " ";
    return words;
  }
  std::vector<StepOutcome> outcomes;
};

plan::Edge needs(const std::string& id, plan::Edge::Kind kind = plan::Edge::Kind::environment, bool optional = false) {
  return {.kind = kind, .step = id, .optional = optional};
}

}  // namespace

TEST(Coordinator, DeliversBuiltWheels) {
  Fixture setup;
  setup.add("a").closing.asked_for = true;
  EXPECT_EQ(setup.run(), "built ");
  EXPECT_EQ(sys::read_file(setup.outcomes[0].wheel), "wheel of a");
  EXPECT_EQ(setup.outcomes[0].wheel, setup.folder.path() / "out" / "a-1.0-py3-none-any.whl");
  EXPECT_EQ(setup.told, (std::vector<std::string>{"started a", "finished a"}));
}

TEST(Coordinator, TakesStoredWheelsWithoutStartingAStep) {
  Fixture setup;
  setup.add("a");
  EXPECT_EQ(setup.run(), "built ");
  fs::remove_all(setup.folder.path() / "out");
  setup.executor.jobs.clear();
  setup.plan.steps[0].decision.cached = true;
  EXPECT_EQ(setup.run(), "cached ");
  EXPECT_TRUE(setup.executor.jobs.empty());
  EXPECT_EQ(sys::read_file(setup.outcomes[0].wheel), "wheel of a");
}

// The early cut-off: app was built with another wheel of lib that had the same interface.
TEST(Coordinator, KeepsAStepWhoseNeedWasRebuiltWithTheSameInterface) {
  for (const char* how : {"kept", "planned", "exact", "changed"}) {
    const std::string what = how;
    Fixture setup;
    const Artifact first = setup.wheel_of_lib("int a;", "first");
    const Artifact second = setup.wheel_of_lib(what == "changed" ? "long a;" : "int a;", "second");
    setup.add("lib").decision.cached = true;
    setup.put(setup.plan.steps[0].spec, second);
    plan::Step& app = setup.add("app", {needs("lib")});
    const std::string earlier = setup.put_earlier(app, "lib", {{"lib", first.file_name, first.sha256}});
    app.decision.reason = "step:lib changed; it is kept if the ABI of lib is unchanged";
    app.decision.cached = what == "planned";
    if (what == "planned") app.decision.kept_key = earlier;
    setup.options.exact = what == "exact";
    const bool kept = what == "kept" || what == "planned";
    EXPECT_EQ(setup.run(), kept ? "cached cached " : "cached built ") << what;
    EXPECT_EQ(setup.executor.jobs.empty(), kept) << what;
    const StepOutcome& outcome = setup.outcomes[1];
    EXPECT_EQ(outcome.key, app.spec.key) << what;
    EXPECT_EQ(outcome.kept_key, kept ? earlier : "") << what;
    if (kept) {
      EXPECT_EQ(outcome.reason, "lib was rebuilt, its ABI is unchanged: app is kept");
      EXPECT_EQ(sys::read_file(outcome.wheel), "earlier wheel of app");
    } else {
      EXPECT_EQ(setup.executor.jobs[0].reason,
                what == "exact" ? app.decision.reason : "step:lib changed; lib: lib/a.h changed");
    }
  }
}

// tool needs app, and so has lib in its environment: it is kept after app, unless it has seen the change of lib.
TEST(Coordinator, KeepsAChainOfSteps) {
  for (const bool changed : {false, true}) {
    Fixture setup;
    const Artifact first = setup.wheel_of_lib("int a;", "first");
    const Artifact second = setup.wheel_of_lib(changed ? "long a;" : "int a;", "second");
    setup.plan.steps.reserve(3);
    setup.add("lib").decision.cached = true;
    setup.put(setup.plan.steps[0].spec, second);
    plan::Step& app = setup.add("app", {needs("lib")});
    plan::Step& tool = setup.add("tool", {needs("app")});
    setup.put_earlier(app, "lib", {{"lib", first.file_name, first.sha256}});
    const Artifact wheel = setup.wheel_of_lib("", "the wheel of app");
    store::StepRecord record = *setup.store.newest_step("app");
    record.wheel_name = wheel.file_name;
    record.wheel_sha256 = wheel.sha256;
    record.wheel_size = wheel.size;
    setup.store.put_step(record);
    setup.put_earlier(tool, "app", {{"app", wheel.file_name, wheel.sha256}, {"lib", first.file_name, first.sha256}});
    EXPECT_EQ(setup.run(), changed ? "cached built built " : "cached cached cached ");
    if (changed) continue;
    EXPECT_EQ(setup.outcomes[2].reason, "lib was rebuilt, its ABI is unchanged: tool is kept");
  }
}

TEST(Coordinator, RebuildsWheelsMissingFromTheStore) {
  Fixture setup;
  setup.add("a").decision.cached = true;
  EXPECT_EQ(setup.run(), "built ");
}

// Wheels come from the store, by hash; steps built alongside are not in the environment.
TEST(Coordinator, PassesDependenciesToAStep) {
  Fixture setup;
  setup.add("torch");
  setup.add("vision", {needs("torch")});
  setup.add("beside");
  setup.add("app", {needs("vision"), needs("beside", plan::Edge::Kind::alongside)});
  EXPECT_EQ(setup.run(), "built built built built ");
  const Job& app = setup.executor.jobs.back();
  ASSERT_EQ(app.needs.size(), 2u);
  EXPECT_EQ(app.needs[0].project, "torch");
  EXPECT_FALSE(app.needs[0].direct);
  EXPECT_EQ(app.needs[1].project, "vision");
  EXPECT_TRUE(app.needs[1].direct);
  EXPECT_EQ(sys::read_file(*setup.store.blob(app.needs[1].wheel.sha256)), "wheel of vision");
}

TEST(Coordinator, SkipsDependentsOfAFailedStep) {
  Fixture setup;
  setup.add("a");
  setup.add("b", {needs("a")});
  setup.executor.ends["a"] = {"failed"};
  EXPECT_EQ(setup.run(), "failed skipped ");
  EXPECT_EQ(setup.outcomes[1].cause, "it depends on a, which was not built");
  EXPECT_FALSE(all_made(setup.outcomes));
}

TEST(Coordinator, BuildsDependentsOfAFailedOptionalStep) {
  Fixture setup;
  setup.add("a");
  setup.add("b", {needs("a", plan::Edge::Kind::environment, true)}).closing.asked_for = true;
  setup.executor.ends["a"] = {"failed"};
  EXPECT_EQ(setup.run(), "failed built ");
  EXPECT_TRUE(setup.outcomes[0].optional);
  EXPECT_TRUE(all_made(setup.outcomes));
  EXPECT_TRUE(setup.executor.jobs.back().needs.empty());
  // A step requested by name is never optional.
  setup.plan.steps[0].closing.asked_for = true;
  setup.executor.ends["a"] = {"failed"};
  EXPECT_EQ(setup.run(), "failed skipped ");
}

TEST(Coordinator, RetriesALostStep) {
  Fixture setup;
  setup.add("a");
  setup.options.most_losses = 1;
  setup.executor.ends["a"] = {"lost"};
  EXPECT_EQ(setup.run(), "built ");
  EXPECT_EQ(setup.executor.jobs.size(), 2u);
  setup.executor.ends["a"] = {"lost", "lost"};
  EXPECT_EQ(setup.run(), "failed ");
  EXPECT_EQ(setup.outcomes[0].cause, "the node died");
}

TEST(Coordinator, FailsAStepWhoseWheelCannotBeDelivered) {
  Fixture setup;
  std::ofstream(setup.folder.path() / "file") << "no folder";
  setup.options.out = setup.folder.path() / "file" / "out";
  setup.add("a");
  setup.add("b", {needs("a")});
  EXPECT_EQ(setup.run(), "failed skipped ");
  EXPECT_EQ(setup.outcomes[0].phase, plan::Phase::publish);
}

TEST(Coordinator, RecordsTheBuild) {
  Fixture setup;
  setup.add("a");
  (void)setup.run();
  std::size_t found = 0;
  for (const auto& entry : fs::directory_iterator(setup.store.folder("logs"))) {
    if (!entry.path().filename().string().starts_with("build-")) continue;
    ++found;
    const document::Value value = document::parse_json(sys::read_file(entry.path()), "history");
    EXPECT_EQ((*value["steps"].array())[0]["outcome"].text_or(), "built");
  }
  EXPECT_EQ(found, 1u);
}

}  // namespace wheelsmith::run
