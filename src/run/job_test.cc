#include "run/job.h"

#include <gtest/gtest.h>

#include "document/fields_sample.h"
#include "run/executor.h"
#include "run/job_fields.h"

namespace wheelsmith {

template <>
struct document::Sample<gpu::ArchList> {
  static gpu::ArchList make(std::uint64_t) { return gpu::ArchList::parse("8.0;9.0a+PTX"); }
};

template <>
struct document::Sample<store::Manifest> {
  static store::Manifest make(std::uint64_t) {
    store::Manifest manifest;
    manifest.set("a", "b");
    return manifest;
  }
};

template <>
struct document::Sample<cache::CacheOptions> {
  static cache::CacheOptions make(std::uint64_t number) {
    cache::CacheOptions cache;
    cache.enabled = true;
    cache.folder = "/objects";
    cache.scope = "package";
    cache.size = number;
    cache.compression = "off";
    cache.remote = "redis://user:secret@host";
    return cache;
  }
};

namespace run {

TEST(Job, RoundTripsEveryMember) {
  const Job job = document::Sampler().make<Job>();
  const std::string text = document::to_json(job.to_value());
  const Job read = Job::from_value(document::parse_json(text, "job"));
  EXPECT_EQ(document::to_json(read.to_value()), text);
  document::for_each_field(job, [&]<class Member>(std::string_view name, const Member& member) {
    EXPECT_NE(document::to_json(document::to_document(member)), document::to_json(document::to_document(Member())))
        << name;
  });
}

namespace {

StepOutcome sample_outcome() {
  StepOutcome outcome;
  outcome.id = "texture-cpu-cp311";
  outcome.package = "texture";
  outcome.key = "k";
  outcome.outcome = Outcome::failed;
  outcome.artifact = Artifact{"texture.whl", "abc", 12};
  outcome.wheel = "/out/texture.whl";
  outcome.log = "/store/logs/x.log";
  outcome.seconds = 1.5;
  outcome.cause = "it failed";
  outcome.phase = plan::Phase::build;
  outcome.failure = FirstFailure{"cc -c a.c", "/tree", "error", 7, "a.o"};
  outcome.diagnosis = diagnose::Cause{};
  outcome.diagnosis->id = "missing-header";
  outcome.repeat_script = "/tree/repeat.sh";
  outcome.refused_wheel = "/out/failed/a.whl";
  outcome.tests = {{"import", TestResult::pass, ""}, {"gpu", TestResult::not_run, "no GPU"}};
  outcome.findings = {{"id", Severity::warning, "a.so", "what", "why", "fix"}};
  outcome.reason = "it has never been built here";
  outcome.statement = "/out/a.whl.intoto.json";
  outcome.signatures = {"/out/a.whl.asc"};
  outcome.kept_key = "def";
  outcome.rebuilt = {"torch"};
  outcome.cache.hits = 3;
  outcome.cache.saved_seconds = 2.5;
  outcome.replaced = outcome.optional = outcome.editable = true;
  return outcome;
}

}  // namespace

TEST(StepOutcome, RoundTripsEveryMember) {
  // A new member needs a line above, one in to_value() and one in from_value().
  static_assert(document::member_count<StepOutcome>() == 26);
  const StepOutcome outcome = sample_outcome();
  const std::string text = document::to_json(outcome.to_value());
  EXPECT_EQ(document::to_json(StepOutcome::from_value(document::parse_json(text, "outcome")).to_value()), text);
  EXPECT_NE(text.find("\"not-run\""), text.npos);
}

TEST(Reports, RoundTrip) {
  const StepOutcome outcome = sample_outcome();
  const Report finished =
      parse_report(report_line({.kind = Event::Kind::finished, .step = "", .text = "", .outcome = &outcome}));
  EXPECT_EQ(finished.kind, Report::Kind::finished);
  EXPECT_EQ(finished.outcome.phase, plan::Phase::build);
  const Report progress =
      parse_report(report_line({.kind = Event::Kind::progress, .step = "", .text = "torch", .done = 3, .total = 9}));
  EXPECT_EQ(progress.kind, Report::Kind::event);
  EXPECT_EQ(progress.event.done, 3u);
  EXPECT_EQ(progress.event.text, "torch");
  Event event{.kind = Event::Kind::compiling, .step = "", .text = ""};
  event.compiles = {1, 2, 3, 4, 5, 6, "a.cu", "2 compiles of torch"};
  const CompileStatus compiles = parse_report(report_line(event)).event.compiles;
  EXPECT_EQ(compiles.running * 100'000 + compiles.finished * 10'000 + compiles.used * 1000 + compiles.limit * 100 +
                compiles.hits * 10 + compiles.lookups,
            123'456u);
  EXPECT_EQ(compiles.unit + "; " + compiles.waits_for, "a.cu; 2 compiles of torch");
  for (const char* strange : {"Segmentation fault", "{}", "{\"event\":\"dance\"}", "[1]", "",
                              "{\"event\":\"finished\",\"outcome\":{\"outcome\":\"great\"}}"})
    EXPECT_THROW((void)parse_report(strange), Error) << strange;
}

}  // namespace run

}  // namespace wheelsmith
