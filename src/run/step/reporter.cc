#include "run/step/reporter.h"

#include <cstdio>
#include <string>

#include "base/error.h"
#include "run/executor.h"
#include "sys/process/process.h"

namespace wheelsmith::run {

Reporter::Reporter(const std::filesystem::path& log) : m_log(log) {}

void Reporter::phase(plan::Phase phase) {
  if (sys::interrupted()) throw Error("interrupted");
  m_phase = phase;
  log_line("phase " + std::string(plan::to_string(phase)));
  tell({.kind = Event::Kind::phase, .step = "", .text = std::string(plan::to_string(phase))});
}

void Reporter::note(std::string_view text) {
  log_line(text);
  tell({.kind = Event::Kind::note, .step = "", .text = std::string(text)});
}

void Reporter::log_line(std::string_view text) { log_text("wheelsmith: " + std::string(text) + "\n"); }

void Reporter::log_text(std::string_view text) { m_log.write(text); }

void Reporter::tell(const Event& event) {
  const std::string line = report_line(event);
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

}  // namespace wheelsmith::run
