#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "plan/step/spec.h"
#include "run/events.h"
#include "sys/log_file.h"

namespace wheelsmith::run {

// Reports a step's progress: the log gets all tool output and a line for each phase; the executor gets events.
class Reporter {
 public:
  // Events go to standard output. Throws Error when the log cannot be opened.
  explicit Reporter(const std::filesystem::path& log);

  // Throws Error when interrupted.
  void phase(plan::Phase phase);
  [[nodiscard]] std::optional<plan::Phase> current_phase() const { return m_phase; }
  // For users: in the log and in the status.
  void note(std::string_view text);
  // In the log only.
  void log_line(std::string_view text);
  void log_text(std::string_view text);
  static void tell(const Event& event);

 private:
  sys::LogFile m_log;
  std::optional<plan::Phase> m_phase;
};

}  // namespace wheelsmith::run
