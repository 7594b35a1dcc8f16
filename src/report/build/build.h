#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "doctor/doctor.h"
#include "recipe/recipe.h"
#include "report/style.h"
#include "run/run.h"
#include "run/wheel_tests.h"

namespace wheelsmith::report {

// {"schema":1,"steps":[{"id","package","key","outcome","wheel","log","seconds","cause",…}],"notes":[…]}
// What a build is closed with besides its outcomes.
struct Closing {
  std::vector<doctor::Check> checklist{};
  std::vector<recipe::RuntimeVariable> runtime{};  // variables that matter when the packages run
};
std::string build_json(const std::vector<run::StepOutcome>& steps, const std::vector<std::string>& notes,
                       const Closing& closing);
std::string closing_text(const Closing& closing, const Style& style);
std::string tests_json(const std::vector<run::WheelTest>& items);

// What is printed at the end: each step's outcome, and of failures the command, its output and how to repeat it.
std::string build_text(const std::vector<run::StepOutcome>& steps, const Style& style);
std::string test_text(const run::WheelTest& item, const Style& style);

// "4 s", "2 min 10 s", "1 h 5 min".
std::string human_seconds(double seconds);

// Whether a step ended because the user stopped the build.
bool was_interrupted(const run::StepOutcome& outcome);

// The state of a build that is running: on a terminal one line for each running step, drawn over the last ones; else
// plain lines, for each phase, each tenth of the units, and every half minute.
class BuildStatus {
 public:
  using Clock = std::function<double()>;    // seconds
  using Width = std::function<unsigned()>;  // columns of the terminal now; it may be resized at any time
  // Without `width`, the style's. `clock` is for tests.
  BuildStatus(const plan::Plan& plan, Style style, bool live, bool verbose, Width width = {}, Clock clock = {});

  // The text to write now; "" for nothing. Live: with the control characters that go over the last lines.
  std::string on_event(const run::Event& event);
  // Live: the lines again, with the time that has passed.
  std::string redraw();
  // Takes the status lines away.
  std::string clear();

 private:
  struct Running {
    std::string phase, what;  // `what`: the file that is downloaded
    std::string node;         // of a cluster; while it is queued, the job and why it waits
    std::uint64_t used = 0, limit = 0;  // memory of its job there
    std::uint64_t done = 0, total = 0;
    double started = 0, told = 0, estimate = 0;
    run::CompileStatus compiles{};
  };
  [[nodiscard]] static std::string job_memory(const Running& running, bool wide);
  [[nodiscard]] std::string line(const std::string& id, const Running& running) const;
  [[nodiscard]] std::vector<std::string> lines() const;
  [[nodiscard]] std::string draw(const std::string& above);
  [[nodiscard]] std::string plain_line(const std::string& id, Running& running) const;
  [[nodiscard]] std::string on_progress(const run::Event& event);
  [[nodiscard]] std::string on_compiling(const run::Event& event);
  [[nodiscard]] std::string finished_line(const run::StepOutcome& outcome) const;
  [[nodiscard]] std::string time_text(const Running& running) const;

  Style m_style;
  bool m_live, m_verbose;
  Width m_width;
  Clock m_clock;
  std::size_t m_total = 0, m_finished = 0;
  std::map<std::string, Running> m_running;
  std::map<std::string, double> m_estimates;
  std::vector<std::string> m_drawn;
};

}  // namespace wheelsmith::report
