#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "plan/step/spec.h"
#include "run/events.h"
#include "sys/log_file.h"

namespace wheelsmith::run {

// What a step tells while it runs: to its log, everything the tools print and a line for each phase of ours; to the
// executor, events.
class Reporter {
 public:
  // Events go to standard output. Throws Error when the log cannot be opened.
  explicit Reporter(const std::filesystem::path& log);

  // Throws Error when we have been interrupted.
  void phase(plan::Phase phase);
  [[nodiscard]] std::optional<plan::Phase> current_phase() const { return m_phase; }
  // For people: in the log and in the status.
  void note(std::string_view text);
  // In the log alone.
  void log_line(std::string_view text);
  void log_text(std::string_view text);
  static void tell(const Event& event);

 private:
  sys::LogFile m_log;
  std::optional<plan::Phase> m_phase;
};

}  // namespace wheelsmith::run
