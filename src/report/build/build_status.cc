#include <fmt/format.h>

#include "base/text.h"
#include "report/build/build.h"

namespace wheelsmith::report {

std::string human_seconds(double seconds) {
  if (seconds < 0.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

BuildStatus::BuildStatus(const plan::Plan& plan, Style style, bool live, bool verbose)
    : m_style(style), m_live(live), m_verbose(verbose), m_total(plan.steps.size()) {
  for (const plan::Step& step : plan.steps) m_estimates[step.id()] = step.decision.forecast.seconds;
}

std::string BuildStatus::finished_line(const run::StepOutcome& outcome) const {
  const std::string plain(run::to_string(outcome.outcome));
  const std::string word = outcome.made()                            ? m_style.green(plain)
                           : outcome.outcome == run::Outcome::failed ? m_style.red(plain)
                                                                     : m_style.yellow(plain);
  std::string line =
      fmt::format("{} {} {}", m_style.dim(fmt::format("[{}/{}]", m_finished, m_total)), word, m_style.bold(outcome.id));
  if (!outcome.wheel.empty()) line += "  " + outcome.wheel.string();
  if (outcome.outcome == run::Outcome::built) line += m_style.dim("  " + human_seconds(outcome.seconds));
  if (outcome.outcome == run::Outcome::skipped) line += "  " + printable(outcome.cause);
  return line + "\n";
}

std::string BuildStatus::lines() const {
  std::string text;
  for (const auto& [id, running] : m_running) {
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - running.started).count();
    std::string line = fmt::format("  {}  {}", id, running.phase);
    if (running.total != 0)
      line += fmt::format("  {} {}/{}",
                          m_style.bar(static_cast<double>(running.done) / static_cast<double>(running.total), 20),
                          running.done, running.total);
    line += "  " + human_seconds(passed);
    if (running.estimate > passed) line += fmt::format(" of about {}", human_seconds(running.estimate));
    if (!running.memory.empty()) line += "  " + running.memory;
    // Wrapped lines could not be taken away again.
    if (columns(line) > m_style.width) line = line.substr(0, m_style.width);
    text += line + "\n";
  }
  return text;
}

std::string BuildStatus::clear() {
  std::string text;
  for (; m_drawn > 0; --m_drawn) text += "\x1b[1A\x1b[2K";
  return text;
}

std::string BuildStatus::redraw() {
  if (!m_live) return "";
  std::string text = clear();
  const std::string now = lines();
  m_drawn = m_running.size();
  return text + now;
}

std::string BuildStatus::on_event(const run::Event& event) {
  std::string plain;
  switch (event.kind) {
    case run::Event::Kind::started:
      m_running[event.step] = {"starting", 0, 0, std::chrono::steady_clock::now(), m_estimates[event.step]};
      plain = fmt::format("{} {} (log {})\n", m_style.dim(fmt::format("[{}/{}]", m_finished, m_total)), event.step,
                          event.text);
      break;
    case run::Event::Kind::phase: {
      Running& running = m_running[event.step];
      running.phase = event.text;
      running.done = running.total = 0;
      running.memory.clear();
      if (!m_live) plain = fmt::format("  {}: {}\n", event.step, event.text);
      break;
    }
    case run::Event::Kind::progress: {
      Running& running = m_running[event.step];
      const std::uint64_t before = running.total == 0 ? 0 : running.done * 10 / running.total;
      const bool new_total = running.total != event.total;
      running.done = event.done;
      running.total = event.total;
      // Without a terminal a line for each tenth is enough; with one the status line shows it.
      if (!m_live && event.text.empty() && event.total != 0 && (new_total || event.done * 10 / event.total != before))
        plain = fmt::format("  {}: {}/{}\n", event.step, event.done, event.total);
      break;
    }
    case run::Event::Kind::memory: m_running[event.step].memory = printable(event.text); break;
    case run::Event::Kind::note:
      plain = m_style.dim(fmt::format("  {}: {}", event.step, printable(event.text))) + "\n";
      break;
    case run::Event::Kind::output:
      if (m_verbose) {
        for (const std::string_view line : wheelsmith::lines(event.text)) plain += printable(line) + "\n";
      }
      break;
    case run::Event::Kind::finished:
      m_running.erase(event.step);
      ++m_finished;
      plain = finished_line(*event.outcome);
      break;
  }
  if (!m_live) return plain;
  std::string text = clear() + plain + lines();
  m_drawn = m_running.size();
  return text;
}

}  // namespace wheelsmith::report
