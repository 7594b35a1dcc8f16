#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "doctor/doctor.h"
#include "recipe/recipe.h"
#include "report/style.h"
#include "run/run.h"
#include "run/wheel_tests.h"
#include "settings/settings.h"

namespace wheelsmith::report {

// {"schema":1,"steps":[{"id","package","key","outcome","wheel","log","seconds","cause",…}],"notes":[…]}
// Printed at the end of a build, after its outcomes.
struct Closing {
  std::vector<doctor::Check> checklist{};
  std::vector<recipe::RuntimeVariable> runtime{};  // environment variables for running the packages
  std::optional<settings::Price> price{};          // of core hours, for what the compile cache saved
};
std::string build_json(const std::vector<run::StepOutcome>& steps, const std::vector<std::string>& notes,
                       const Closing& closing);
std::string closing_text(const std::vector<run::StepOutcome>& steps, const Closing& closing, const Style& style);
std::string tests_json(const std::vector<run::WheelTest>& items);

// The final text: the outcome of each step, and for failures the command, its output and how to rerun it.
std::string build_text(const std::vector<run::StepOutcome>& steps, const Style& style);
std::string test_text(const run::WheelTest& item, const Style& style);

// "4 s", "2 min 10 s", "1 h 5 min".
std::string human_seconds(double seconds);

// Whether a step ended because the user stopped the build.
bool was_interrupted(const run::StepOutcome& outcome);

// The status of a running build. On a terminal: one line per running step, redrawn in place. Otherwise: plain lines for
// each phase, each tenth of the units, and every 30 s.
class BuildStatus {
 public:
  using Clock = std::function<double()>;    // seconds
  using Width = std::function<unsigned()>;  // current width of the terminal; it may be resized at any time
  // `width` defaults to the style's width; `clock` is for tests.
  BuildStatus(const plan::Plan& plan, Style style, bool live, bool verbose, Width width = {}, Clock clock = {});

  // The text to write now, or "". Live text contains the control characters that overwrite the last lines.
  std::string on_event(const run::Event& event);
  // Live: the lines again, with updated times.
  std::string redraw();
  // Erases the status lines.
  std::string clear();

 private:
  struct Running {
    std::string phase, what;            // `what`: the file being downloaded
    std::string node;                   // of a cluster; while the step is queued, the job and why it waits
    std::uint64_t used = 0, limit = 0;  // memory of the cluster's job
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
  [[nodiscard]] std::string before_path(std::size_t line) const;
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
