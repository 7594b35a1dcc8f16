#include "run/slurm/slurm_executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <random>

#include "base/hash.h"
#include "base/text.h"
#include "run/slurm/farm.h"
#include "sys/file.h"
#include "sys/files.h"

// Stories with a Slurm that is made of a few lists: tests decide how each job ends, and time passes when the executor
// would wait.

namespace wheelsmith::run {
namespace {

class FakeSlurm final : public slurm::Commands {
 public:
  struct FakeJob {
    slurm::JobId id;
    std::string name;
    std::string state = "PENDING", reason = "Priority", node = "";
  };

  slurm::Reply call(const std::vector<std::string>& words, const std::string& input) override {
    calls.push_back(join(words, " "));
    if (away) return {slurm::Answer::away, "", "Unable to contact slurm controller"};
    if (words[0] == "sbatch") return submit(words, input);
    if (words[0] == "sinfo")
      return {slurm::Answer::good, "n1|all*|idle|4|8000|infinite||\nn2|all*|idle|4|8000|infinite|" + gres + "|\n", ""};
    if (words[0] == "squeue") return {slurm::Answer::good, queue(), ""};
    if (words[0] == "scontrol") return show(words.back());
    if (words[0] == "scancel") {
      for (std::size_t i = 1; i < words.size(); ++i) end(words[i], "CANCELLED");
      return {slurm::Answer::good, "", ""};
    }
    return {slurm::Answer::refused, "", "no accounting"};
  }

  FakeJob& job(const std::string& id) {
    const auto found =
        std::find_if(jobs.begin(), jobs.end(), [&](const FakeJob& one) { return slurm::to_string(one.id) == id; });
    EXPECT_NE(found, jobs.end()) << id;
    return *found;
  }
  void end(const std::string& id, const std::string& state) { job(id).state = state; }
  [[nodiscard]] std::size_t count(std::string_view command) const {
    return static_cast<std::size_t>(
        std::count_if(calls.begin(), calls.end(), [&](const std::string& call) { return call.starts_with(command); }));
  }
  [[nodiscard]] std::string last(std::string_view command) const {
    const auto found =
        std::find_if(calls.rbegin(), calls.rend(), [&](const std::string& call) { return call.starts_with(command); });
    return found == calls.rend() ? "" : *found;
  }

  std::vector<FakeJob> jobs;
  std::vector<std::string> calls, scripts;
  bool away = false, lose_answers = false;
  std::string refuse, gres;
  std::string refuse_arrays;  // the error for arrays of more tasks than
  std::uint32_t most_tasks = 0;

 private:
  slurm::Reply submit(const std::vector<std::string>& words, const std::string& input) {
    if (!refuse.empty()) return {slurm::classify(1, refuse), "", refuse};
    std::uint32_t tasks = 0;
    std::string name;
    for (const std::string& word : words) {
      if (word.starts_with("--array=0-"))
        tasks = static_cast<std::uint32_t>(to_number(word.substr(10)).value_or(0)) + 1;
      if (word.starts_with("--job-name=")) name = word.substr(11);
    }
    if (!refuse_arrays.empty() && tasks > most_tasks) return {slurm::classify(1, refuse_arrays), "", refuse_arrays};
    scripts.push_back(input);
    const std::uint64_t number = ++m_number;
    for (std::uint32_t i = 0; i < std::max(1u, tasks); ++i)
      jobs.push_back({tasks == 0 ? slurm::JobId{number} : slurm::JobId{number, i}, name});
    if (lose_answers) return {slurm::Answer::away, "", "Socket timed out"};
    return {slurm::Answer::good, std::to_string(number) + "\n", ""};
  }
  [[nodiscard]] std::string queue() const {
    std::string text;
    for (const FakeJob& one : jobs) {
      if (!slurm::is_active(slurm::job_state_named(one.state))) continue;
      text +=
          slurm::to_string(one.id) + "|" + one.state + "|0:10|" + one.node + "|" + one.name + "|" + one.reason + "\n";
    }
    return text;
  }
  slurm::Reply show(const std::string& id) {
    for (const FakeJob& one : jobs) {
      if (slurm::to_string(one.id) != id) continue;
      std::string text = "JobId=" + std::to_string(one.id.job);
      if (one.id.task)
        text = "JobId=999 ArrayJobId=" + std::to_string(one.id.job) + " ArrayTaskId=" + std::to_string(*one.id.task);
      return {slurm::Answer::good,
              text + " JobState=" + one.state + " RunTime=00:00:10 TimeLimit=00:10:00 NodeList=" + one.node + "\n", ""};
    }
    return {slurm::Answer::no_job, "", "Invalid job id specified"};
  }

  std::uint64_t m_number = 0;
};

struct Farm {
  sys::TempDir temp;
  store::Store store{temp.path() / "store"};
  FakeSlurm slurm;
  double time = 1000;
  std::vector<std::string> notes;

  std::unique_ptr<Executor> executor(bool cancel = false) {
    SlurmOptions options;
    options.cancel = cancel;
    options.now = [this] { return time; };
    options.pause = [this](double seconds) { time += seconds; };
    options.on_note = [this](const std::string& text) { notes.push_back(text); };
    return make_slurm_executor(store, slurm, options);
  }
  Submission step(std::size_t ticket) {
    Submission submission{.ticket = ticket, .job = {}};
    submission.job.spec.id = "p" + std::to_string(ticket);
    submission.job.spec.identity = submission.job.spec.id;
    submission.job.spec.key = std::string(63, 'a') + std::to_string(ticket % 10);
    submission.job.spec.key[0] = static_cast<char>('0' + ticket % 10);
    submission.job.store = store.root();
    return submission;
  }
  // What the node's process would write.
  void report(std::size_t ticket, unsigned number, const std::string& lines) {
    const Submission submission = step(ticket);
    for (const auto& entry : std::filesystem::directory_iterator(store.root() / "farm" / "steps")) {
      if (!entry.path().filename().string().starts_with(submission.job.spec.key.substr(0, 16))) continue;
      ASSERT_FALSE(sys::append_text(FarmFolder(entry.path()).report_file(number), lines));
    }
  }
  static std::string finished(Outcome outcome, const std::string& cause = "") {
    StepOutcome result;
    result.outcome = outcome;
    result.cause = cause;
    return report_line({.kind = Event::Kind::finished, .outcome = &result});
  }
};

// Lets time pass until something other than an event is reported.
std::vector<Report> ends(Executor& executor, Farm& farm, double seconds = 60) {
  std::vector<Report> result;
  for (const double until = farm.time + seconds; farm.time < until && result.empty();) {
    for (Report& report : executor.wait()) {
      if (report.kind != Report::Kind::event) result.push_back(std::move(report));
    }
  }
  return result;
}

TEST(SlurmExecutor, SubmitsAndReadsTheReport) {
  Farm farm;
  const auto executor = farm.executor();
  executor->submit(farm.step(1));
  EXPECT_TRUE(ends(*executor, farm, 5).empty());
  ASSERT_EQ(farm.slurm.count("sbatch"), 1);
  EXPECT_EQ(executor->place(1), "Slurm job 1");
  farm.slurm.job("1").state = "RUNNING";
  farm.report(1, 1, to_line({.kind = NodeLine::Kind::placed, .text = "n2", .job = "1"}));
  EXPECT_TRUE(ends(*executor, farm, 5).empty());
  EXPECT_EQ(executor->place(1), "Slurm job 1 on n2");
  farm.report(1, 1, to_line({.kind = NodeLine::Kind::ending}) + Farm::finished(Outcome::built));
  const auto reports = ends(*executor, farm);
  ASSERT_EQ(reports.size(), 1);
  EXPECT_EQ(reports[0].outcome.outcome, Outcome::built);
  EXPECT_EQ(reports[0].outcome.node, "n2");
}

TEST(SlurmExecutor, PutsSmallStepsIntoOneArray) {
  Farm farm;
  const auto executor = farm.executor();
  for (std::size_t i = 0; i < 5; ++i) executor->submit(farm.step(i));
  EXPECT_TRUE(ends(*executor, farm, 3).empty());
  EXPECT_EQ(farm.slurm.count("sbatch"), 1);
  EXPECT_NE(farm.slurm.last("sbatch").find("--array=0-4"), std::string::npos);
  EXPECT_EQ(executor->place(3), "Slurm job 1_3");
}

TEST(SlurmExecutor, AsksForMoreMemoryWhenThereWasNotEnough) {
  Farm farm;
  const auto executor = farm.executor();
  Submission step = farm.step(1);
  step.resources.memory = 100ull << 20;
  executor->submit(std::move(step));
  EXPECT_TRUE(ends(*executor, farm, 3).empty());
  const std::string first = farm.slurm.last("sbatch");
  EXPECT_NE(first.find("--mem=1536M"), std::string::npos) << first;
  farm.report(1, 1,
              to_line({.kind = NodeLine::Kind::placed, .text = "n1", .job = "1"}) +
                  to_line({.kind = NodeLine::Kind::ending, .disturbed = true, .memory_killed = true}) +
                  Farm::finished(Outcome::failed, "cc1plus was killed"));
  farm.slurm.end("1", "OUT_OF_MEMORY");
  EXPECT_TRUE(ends(*executor, farm, 10).empty());
  ASSERT_EQ(farm.slurm.count("sbatch"), 2);
  EXPECT_NE(farm.slurm.last("sbatch").find("--mem=6144M"), std::string::npos) << farm.slurm.last("sbatch");
  farm.report(1, 2, to_line({.kind = NodeLine::Kind::ending}) + Farm::finished(Outcome::built));
  ASSERT_EQ(ends(*executor, farm).size(), 1);
}

TEST(SlurmExecutor, BelievesAResultWhateverSlurmSays) {
  Farm farm;
  const auto executor = farm.executor();
  executor->submit(farm.step(1));
  EXPECT_TRUE(ends(*executor, farm, 3).empty());
  farm.slurm.end("1", "NODE_FAIL");
  farm.report(1, 1, to_line({.kind = NodeLine::Kind::ending, .disturbed = true}) + Farm::finished(Outcome::built));
  const auto reports = ends(*executor, farm);
  ASSERT_EQ(reports.size(), 1);
  EXPECT_EQ(reports[0].outcome.outcome, Outcome::built);
  EXPECT_EQ(farm.slurm.count("sbatch"), 1);
}

TEST(SlurmExecutor, AvoidsANodeThatFailed) {
  Farm farm;
  const auto executor = farm.executor();
  executor->submit(farm.step(1));
  EXPECT_TRUE(ends(*executor, farm, 3).empty());
  farm.slurm.job("1").node = "n2";
  farm.slurm.end("1", "NODE_FAIL");
  EXPECT_TRUE(ends(*executor, farm, 10).empty());
  EXPECT_NE(farm.slurm.last("sbatch").find("--exclude=n2"), std::string::npos);
}

TEST(SlurmExecutor, TellsAFailedStepOnce) {
  Farm farm;
  const auto executor = farm.executor();
  executor->submit(farm.step(1));
  EXPECT_TRUE(ends(*executor, farm, 3).empty());
  farm.report(1, 1, to_line({.kind = NodeLine::Kind::ending}) + Farm::finished(Outcome::failed, "a test failed"));
  const auto reports = ends(*executor, farm);
  ASSERT_EQ(reports.size(), 1);
  EXPECT_EQ(reports[0].outcome.cause, "a test failed");
  EXPECT_EQ(farm.slurm.count("sbatch"), 1);
  // The same step again is a new try.
  executor->submit(farm.step(1));
  EXPECT_TRUE(ends(*executor, farm, 3).empty());
  EXPECT_EQ(farm.slurm.count("sbatch"), 2);
}

TEST(SlurmExecutor, FindsTheJobsOfACoordinatorThatDied) {
  Farm farm;
  {
    const auto first = farm.executor();
    for (std::size_t i = 0; i < 3; ++i) first->submit(farm.step(i));
    EXPECT_TRUE(ends(*first, farm, 3).empty());
  }
  // One has ended meanwhile, well, and one badly.
  farm.report(0, 1, to_line({.kind = NodeLine::Kind::ending}) + Farm::finished(Outcome::built));
  farm.report(1, 1, to_line({.kind = NodeLine::Kind::ending}) + Farm::finished(Outcome::failed, "no header"));
  const auto second = farm.executor();
  for (std::size_t i = 0; i < 3; ++i) second->submit(farm.step(i));
  std::size_t ended = 0;
  for (int i = 0; i < 5; ++i) ended += ends(*second, farm, 5).size();
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(farm.slurm.count("sbatch"), 1);
}

TEST(SlurmExecutor, FindsAJobWhoseNumberWasNotRead) {
  Farm farm;
  farm.slurm.lose_answers = true;
  {
    const auto first = farm.executor();
    first->submit(farm.step(1));
    EXPECT_TRUE(ends(*first, farm, 0.6).empty());
  }
  farm.slurm.lose_answers = false;
  ASSERT_EQ(farm.slurm.jobs.size(), 1);
  const auto second = farm.executor();
  second->submit(farm.step(1));
  EXPECT_TRUE(ends(*second, farm, 3).empty());
  EXPECT_EQ(second->place(1), "Slurm job 1");
  EXPECT_EQ(farm.slurm.jobs.size(), 1);
}

TEST(SlurmExecutor, WaitsForAControllerThatIsAway) {
  Farm farm;
  const auto executor = farm.executor();
  executor->submit(farm.step(1));
  farm.slurm.away = true;
  EXPECT_TRUE(ends(*executor, farm, 300).empty());
  // Not every tenth of a second.
  EXPECT_LT(farm.slurm.calls.size(), 40);
  EXPECT_FALSE(farm.notes.empty());
  farm.slurm.away = false;
  EXPECT_TRUE(ends(*executor, farm, 60).empty());
  EXPECT_EQ(farm.slurm.jobs.size(), 1);
  // While it is away again, the report is enough.
  farm.slurm.away = true;
  farm.report(1, 1, to_line({.kind = NodeLine::Kind::ending}) + Farm::finished(Outcome::built));
  EXPECT_EQ(ends(*executor, farm).size(), 1);
}

// MaxArraySize may be smaller than the array, or a limit for jobs in the queue: each text is Slurm's.
TEST(SlurmExecutor, SubmitsSmallerArraysWhereLargeOnesAreRefused) {
  for (const char* error :
       {"sbatch: error: Batch job submission failed: Invalid job array specification",
        "sbatch: error: QOSMaxSubmitJobPerUserLimit sbatch: error: Batch job submission failed: Job violates "
        "accounting/QOS policy (job submit limit, user's size and/or time limits)"}) {
    Farm farm;
    farm.slurm.refuse_arrays = error;
    farm.slurm.most_tasks = 3;
    const auto executor = farm.executor();
    for (std::size_t i = 0; i < 9; ++i) executor->submit(farm.step(i));
    EXPECT_TRUE(ends(*executor, farm, 120).empty()) << error;
    EXPECT_EQ(farm.slurm.jobs.size(), 9) << error;
    // One question for all steps of an attempt, not one for each.
    EXPECT_LT(farm.slurm.count("squeue"), 80) << error;
  }
}

TEST(SlurmExecutor, SaysThatAJobMayNeverStart) {
  Farm farm;
  const auto executor = farm.executor();
  for (std::size_t i = 1; i < 4; ++i) executor->submit(farm.step(i));
  EXPECT_TRUE(ends(*executor, farm, 30).empty());
  EXPECT_TRUE(farm.notes.empty()) << "waiting for its turn is not worth a note";
  for (FakeSlurm::FakeJob& job : farm.slurm.jobs) job.reason = "PartitionDown";
  EXPECT_TRUE(ends(*executor, farm, 300).empty());
  ASSERT_EQ(farm.notes.size(), 1);
  EXPECT_EQ(farm.notes[0].find("3 jobs (1_0) may never start: PartitionDown: the partition"), 0) << farm.notes[0];
}

TEST(SlurmExecutor, SaysWhatSlurmRefuses) {
  Farm farm;
  const auto executor = farm.executor();
  farm.slurm.refuse = "sbatch: error: invalid partition specified: nope";
  executor->submit(farm.step(1));
  const auto reports = ends(*executor, farm);
  ASSERT_EQ(reports.size(), 1);
  EXPECT_NE(reports[0].outcome.cause.find("invalid partition"), std::string::npos);
}

// Compiling never occupies a GPU.
TEST(SlurmExecutor, TestsOnAGpuInAJobOfItsOwn) {
  Farm farm;
  const auto gpu_step = [&] {
    Submission step = farm.step(1);
    step.job.spec.variant = recipe::Variant::cuda;
    step.job.spec.recipe_text =
        "name = \"p1\"\n[source]\nfolder = \"p1\"\n[[test]]\nname = \"runs\"\ngpu = true\nscript = "
        "\"1\"\n[variant.cuda]\n";
    return step;
  };
  farm.slurm.gres = "gpu:h100:4";
  const auto executor = farm.executor();
  executor->submit(gpu_step());
  EXPECT_TRUE(ends(*executor, farm, 3).empty());
  EXPECT_EQ(farm.slurm.last("sbatch").find("--gpus"), std::string::npos);
  farm.report(1, 1, to_line({.kind = NodeLine::Kind::ending}) + Farm::finished(Outcome::built));
  EXPECT_TRUE(ends(*executor, farm, 5).empty());
  ASSERT_EQ(farm.slurm.count("sbatch"), 2);
  EXPECT_NE(farm.slurm.last("sbatch").find("--gpus=1"), std::string::npos);
  farm.report(1, 2, to_line({.kind = NodeLine::Kind::ending}) + Farm::finished(Outcome::built));
  EXPECT_EQ(ends(*executor, farm).size(), 1);
  // A cluster without GPUs: one job, and the test is reported as not run.
  Farm plain;
  const auto other = plain.executor();
  other->submit(gpu_step());
  EXPECT_TRUE(ends(*other, plain, 3).empty());
  plain.report(1, 1, to_line({.kind = NodeLine::Kind::ending}) + Farm::finished(Outcome::built));
  EXPECT_EQ(ends(*other, plain).size(), 1);
  EXPECT_EQ(plain.slurm.count("sbatch"), 1);
}

TEST(SlurmExecutor, CancelsTheJobsOfAPlan) {
  Farm farm;
  {
    const auto first = farm.executor();
    first->submit(farm.step(1));
    EXPECT_TRUE(ends(*first, farm, 3).empty());
  }
  const auto second = farm.executor(true);
  second->submit(farm.step(1));
  second->submit(farm.step(2));
  std::size_t ended = 0;
  for (int i = 0; i < 10; ++i) ended += ends(*second, farm, 30).size();
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(farm.slurm.last("scancel"), "scancel 1");
  EXPECT_EQ(farm.slurm.count("sbatch"), 1);
}

// The polling, the gathering of arrays and the throttle, in simulated time: 20 nodes of one job each, 120 steps of 5 s
// to ten minutes, every second one with a request of its own. Compared with the lower bounds: all work divided by the
// nodes, and the longest step.
TEST(SlurmExecutor, KeepsTheNodesBusy) {
  constexpr std::size_t k_nodes = 20, k_steps = 120;
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> spread(std::log(120.0), 1.0);
  std::vector<double> seconds(k_steps);
  for (double& one : seconds) one = std::clamp(spread(random), 5.0, 600.0);
  std::ranges::sort(seconds, std::greater<>());  // as the scheduler orders independent steps
  const double ideal = std::max(seconds[0], std::accumulate(seconds.begin(), seconds.end(), 0.0) / k_nodes);

  Farm farm;
  const auto executor = farm.executor();
  struct Running {
    double until = 0;
    std::filesystem::path report;
  };
  std::map<std::size_t, Running> running;  // by the place in the list of jobs
  std::size_t submitted = 0, ended = 0, started = 0;
  const double began = farm.time;
  const auto let_nodes_work = [&] {
    for (auto one = running.begin(); one != running.end();) {
      if (one->second.until > farm.time) {
        ++one;
        continue;
      }
      ASSERT_FALSE(sys::append_text(one->second.report,
                                    to_line({.kind = NodeLine::Kind::ending}) + Farm::finished(Outcome::built)));
      farm.slurm.jobs[one->first].state = "COMPLETED";
      one = running.erase(one);
    }
    for (; started < farm.slurm.jobs.size() && running.size() < k_nodes; ++started) {
      FakeSlurm::FakeJob& job = farm.slurm.jobs[started];
      const std::filesystem::path batch = farm.store.folder("farm") / "batches" / (job.name + ".json");
      const FarmBatch farm_batch = FarmBatch::from_value(document::parse_json(sys::read_file(batch), "batch"));
      const std::filesystem::path& one = farm_batch.tries[job.id.task.value_or(0)];
      const Job read = Job::from_value(document::parse_json(sys::read_file(one.parent_path() / "job.json"), "job"));
      job.state = "RUNNING";
      running[started] = {farm.time + seconds[*to_number(read.spec.id)], FarmFolder(one.parent_path()).report_file(1)};
    }
  };
  while (ended < k_steps && farm.time < began + 10 * ideal) {
    for (std::size_t room = executor->room(); room != 0 && submitted < k_steps; --room, ++submitted) {
      Submission step = farm.step(submitted);
      step.job.spec.id = step.job.spec.identity = std::to_string(submitted);
      step.job.spec.key = to_hex(sha256(Bytes(step.job.spec.id)));
      if (submitted % 2 == 0) step.resources.core_seconds = static_cast<double>(submitted) * 3000;
      executor->submit(std::move(step));
    }
    for (const Report& report : executor->wait()) ended += report.kind == Report::Kind::finished ? 1 : 0;
    let_nodes_work();
  }
  EXPECT_EQ(ended, k_steps);
  const double taken = farm.time - began;
  std::printf("%.0f s, ideal %.0f s: %.3f; %zu calls of sbatch, %zu of squeue\n", taken, ideal, taken / ideal,
              farm.slurm.count("sbatch"), farm.slurm.count("squeue"));
  EXPECT_LE(taken, 1.1 * ideal);
}

}  // namespace
}  // namespace wheelsmith::run
