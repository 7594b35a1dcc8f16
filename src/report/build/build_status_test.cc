#include <gtest/gtest.h>

#include "base/text.h"
#include "report/build/build.h"

namespace wheelsmith::report {
namespace {

using Kind = run::Event::Kind;

// A build of one step that took 300 s last time; it started 62 s ago.
struct OneStep {
  explicit OneStep(unsigned width, bool live = true, std::string name = "torch-2.9-cuda-cp311")
      : id(std::move(name)), columns(width) {
    plan::Plan plan;
    plan.steps.resize(1);
    plan.steps[0].spec.id = id;
    plan.steps[0].decision.forecast.seconds = 300;
    status.emplace(
        plan, Style{.colour = false, .unicode = true, .width = width}, live, false, [this] { return columns; },
        [this] { return seconds; });
    tell({.kind = Kind::started, .step = id, .text = "/log"});
    tell({.kind = Kind::phase, .step = id, .text = "build"});
    seconds = 62;
  }
  std::string tell(run::Event event) { return status->on_event(event); }
  std::string progress(std::uint64_t done, std::uint64_t total, const std::string& what = "") {
    return tell({.kind = Kind::progress, .step = id, .text = what, .done = done, .total = total});
  }
  std::string compiling(const std::string& unit, std::uint64_t running = 4, const std::string& waits_for = "") {
    run::Event event{.kind = Kind::compiling, .step = id, .text = ""};
    event.compiles = {running, 11, 5'300'000'000, 24'000'000'000, 8, 11, unit, waits_for};
    return tell(event);
  }
  // The last line, without control characters.
  std::string line(unsigned width) {
    columns = 20;
    status->redraw();
    columns = width;
    std::string text = status->redraw();
    text = text.substr(0, text.rfind("\x1b[K"));
    return text.substr(text.rfind('\r') + 1);
  }

  std::string id;
  unsigned columns;
  double seconds = 0;
  std::optional<BuildStatus> status;
};

// Lines that stay: words are kept whole, and a path that does not fit has a line of its own. Without a terminal nothing
// is wrapped.
TEST(BuildStatusTest, LinesThatStayFitTheTerminal) {
  const std::string path = "/" + std::string(70, 'p');
  run::StepOutcome outcome;
  outcome.id = "torch-2.9-cuda-cp311";
  outcome.outcome = run::Outcome::built;
  outcome.wheel = path;
  outcome.seconds = 11;
  const std::string note = "13 compiles, 0 of 4 from the cache, 2 uncacheable; largest 221 MB (gpu.cu)";
  for (const auto& [live, width] : {std::pair(true, 80U), {true, 200U}, {false, 80U}}) {
    OneStep step(width, live);
    std::string text = step.tell({.kind = Kind::started, .step = step.id, .text = path}) +
                       step.tell({.kind = Kind::note, .step = step.id, .text = note});
    run::Event end{.kind = Kind::finished, .step = step.id, .text = ""};
    end.outcome = &outcome;
    text += step.tell(end);
    const bool narrow = live && width == 80;
    const std::string before = narrow ? "\x1b[K\n      " : "  ";
    EXPECT_NE(text.find("[0/1] torch-2.9-cuda-cp311" + before + "log " + path), text.npos) << text;
    EXPECT_NE(text.find("[1/1] built torch-2.9-cuda-cp311" + before + path + "  11 s"), text.npos) << text;
    EXPECT_EQ(text.find(note) == text.npos, narrow) << text;
    EXPECT_EQ(text.find("2 uncacheable;\x1b[K\n    largest") != text.npos, narrow) << text;
  }
}

TEST(BuildStatusTest, OneLineShowsEverything) {
  OneStep step(160);
  step.progress(12, 40);
  step.compiling("flash_fwd_hdim128_bf16.cu");
  EXPECT_EQ(step.line(160),
            "  torch-2.9-cuda-cp311  build  ██████  12/40 units  1m02s of ~5m00s  5.3 of 24 GB  8 cache hits  "
            "flash_fwd_hdim128_bf16.cu +3");
  EXPECT_EQ(step.line(80), "  torch-2.9-cuda-cp311  build  12/40 units  1m02s of ~5m00s  flash_fwd_hdim… +3");
  EXPECT_EQ(step.line(40), "  torch-2.9-cu…  build  12/40 units");
}

TEST(BuildStatusTest, ShowsWhatItWaitsFor) {
  OneStep step(120);
  step.compiling("", 0, "2 compiles of torch");
  EXPECT_EQ(step.line(120),
            "  torch-2.9-cuda-cp311  build  11 units  1m02s of ~5m00s  8 cache hits  waiting for 2 compiles of "
            "torch");
}

TEST(BuildStatusTest, DownloadsShowBytes) {
  OneStep step(120);
  step.progress(1'200'000, 24'000'000, "torch-2.9.whl");
  EXPECT_EQ(step.line(100), "  torch-2.9-cuda-cp311  build  1.2 of 24 MB  1m02s of ~5m00s  torch-2.9.whl");
  step.progress(24'000'000, 24'000'000, "torch-2.9.whl");
  EXPECT_EQ(step.line(100), "  torch-2.9-cuda-cp311  build  1m02s of ~5m00s");
}

TEST(BuildStatusTest, NoLineIsEverWiderThanTheTerminal) {
  for (const std::string name :
       {"長い名前のパッケージ-cp311", "a-very-long-name-of-a-package-with-many-parts-cuda-cp311"}) {
    OneStep step(80, true, name);
    step.progress(12, 40);
    step.compiling("核心ユニット核心ユニット核心ユニット核心ユニット.cu");
    for (unsigned width = 20; width < 200; ++width) {
      const std::string line = step.line(width == 20 ? 21 : width);
      EXPECT_LT(columns(line), width == 20 ? 21u : width) << line;
      EXPECT_TRUE(is_valid_utf8(line)) << line;
    }
  }
}

TEST(BuildStatusTest, WithoutATerminalLinesArePlainAndFew) {
  OneStep step(100, false);
  EXPECT_EQ(step.compiling("a.cu"),
            "  torch-2.9-cuda-cp311: 11 units, 1m02s of ~5m00s, 5.3 of 24 GB, 8 cache hits, a.cu +3\n");
  EXPECT_EQ(step.compiling("b.cu"), "") << "half a minute has not passed";
  EXPECT_NE(step.progress(4, 40), "");
  EXPECT_EQ(step.progress(5, 40), "");
  EXPECT_NE(step.progress(8, 40), "");
}

TEST(BuildStatusTest, OverwritesTheOldLinesCompletely) {
  OneStep step(80);
  EXPECT_EQ(step.status->redraw().substr(0, 5), "\x1b[1A\r");
  EXPECT_EQ(step.status->redraw(), "") << "nothing has changed";
  const std::string note = step.tell({.kind = Kind::note, .step = step.id, .text = "a note"});
  EXPECT_EQ(note.substr(0, 5), "\x1b[1A\r");
  EXPECT_NE(note.find("a note\x1b[K\n"), note.npos);
  step.columns = 40;  // the drawn line is wrapped now: an event overwrites both rows
  EXPECT_EQ(step.tell({.kind = Kind::phase, .step = step.id, .text = "test"}).substr(0, 5), "\x1b[2A\r");
  EXPECT_EQ(step.status->clear(), "\x1b[1A\r\x1b[J");
  EXPECT_EQ(step.status->clear(), "");
}

TEST(StyleTest, ColumnsAreThoseOfATerminal) {
  EXPECT_EQ(columns("abc"), 3u);
  EXPECT_EQ(columns("é…"), 2u);
  EXPECT_EQ(columns("e\xcc\x81"), 1u) << "a combining accent";
  EXPECT_EQ(columns("日本"), 4u);
  EXPECT_EQ(cut("日本語", 5, true), "日本…");
  EXPECT_EQ(cut("日本語", 4, true), "日…");
  EXPECT_EQ(cut("abcdef", 5, false), "ab...");
  EXPECT_EQ(cut("abc", 3, true), "abc");
  EXPECT_EQ(columns("\xff\xfe"), 2u) << "not UTF-8";
}

TEST(BuildTextTest, AnInterruptedStepDidNotFail) {
  run::StepOutcome outcome;
  outcome.id = "a";
  outcome.outcome = run::Outcome::failed;
  outcome.cause = "interrupted; run the same command to resume";
  EXPECT_EQ(build_text({outcome}, Style{}), "1 interrupted\n");
}

}  // namespace
}  // namespace wheelsmith::report
