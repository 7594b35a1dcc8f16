#pragma once

#include <chrono>
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

// The state of a build that is running, as lines for a terminal that are drawn over the last ones, or as plain lines.
class BuildStatus {
 public:
  BuildStatus(const plan::Plan& plan, Style style, bool live, bool verbose);

  // The text to write now; "" for nothing. Live: with the control characters that take the last lines away.
  std::string on_event(const run::Event& event);
  // Live: the lines again, with the time that has passed.
  std::string redraw();
  // Takes the status lines away.
  std::string clear();

 private:
  struct Running {
    std::string phase;
    std::uint64_t done = 0, total = 0;
    std::chrono::steady_clock::time_point started;
    double estimate = 0;
    std::string memory{};  // what the governor says
  };
  [[nodiscard]] std::string lines() const;
  [[nodiscard]] std::string finished_line(const run::StepOutcome& outcome) const;

  Style m_style;
  bool m_live, m_verbose;
  std::size_t m_total = 0, m_finished = 0;
  std::map<std::string, Running> m_running;
  std::map<std::string, double> m_estimates;
  std::size_t m_drawn = 0;
};

}  // namespace wheelsmith::report
