#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "report/build/build.h"

// A status line contains, from left to right: step, phase, finished units (or bytes of a download), elapsed and
// expected time, memory, cache hits, and the longest-running unit or the reason for waiting. On a narrow terminal, the
// least important parts are dropped and names are truncated, so that a line is never wrapped: a wrapped line could not
// be overwritten. New lines are written over the old ones, and the rest of each old line is erased, which avoids
// flicker.

namespace wheelsmith::report {

namespace {

constexpr std::size_t k_most_status_lines = 12;
constexpr double k_tell_every = 30;  // seconds; only without a terminal
constexpr std::size_t k_least_unit = 12;
constexpr std::size_t k_wide_line = 110;
constexpr const char* k_queued = "queued";

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// "4s", "2m10s", "1h05m".
std::string short_seconds(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::max(seconds, 0.0) + 0.5);
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
}

// "1.2 of 4.0 GB", the unit once if both have the same.
std::string bytes_out_of(std::uint64_t part, std::uint64_t whole) {
  const std::string left = human_bytes(part);
  const std::string right = human_bytes(whole);
  const std::size_t at = left.rfind(' ');
  const bool same = left.substr(at) == right.substr(right.rfind(' '));
  return fmt::format("{} of {}", same ? left.substr(0, at) : left, right);
}

std::string unit_text(const run::CompileStatus& compiles) {
  if (!compiles.waits_for.empty() && compiles.running == 0)
    return fmt::format("waiting for {}", printable(compiles.waits_for));
  return compiles.running == 0 ? "" : printable(compiles.unit);
}

// The number of compiles besides the named unit: " +3".
std::string others_text(const run::CompileStatus& compiles) {
  if (compiles.running < 2 || compiles.unit.empty()) return "";
  return fmt::format(" +{}", compiles.running - 1);
}

std::string memory_text(const run::CompileStatus& compiles, bool wide) {
  if (compiles.limit == 0 || compiles.running == 0) return "";
  return (wide ? bytes_out_of(compiles.used, compiles.limit) : human_bytes(compiles.used)) +
         (compiles.waits_for.starts_with("memory") ? ", waiting for memory" : "");
}

std::string hits_text(const run::CompileStatus& compiles) {
  if (compiles.lookups == 0) return "";
  return counted(compiles.hits, "cache hit");
}

std::string done_text(std::uint64_t done, std::uint64_t total, bool bytes, const run::CompileStatus& compiles) {
  if (total != 0) return bytes ? bytes_out_of(done, total) : fmt::format("{}/{} units", done, total);
  return compiles.finished != 0 ? counted(compiles.finished, "unit") : "";
}

struct Part {
  std::string text;
  int worth = 0;  // the part with the lowest value is dropped first
};

std::size_t width_of(const std::vector<Part>& parts) {
  std::size_t sum = 0;
  for (const Part& part : parts) sum += part.text.empty() ? 0 : 2 + columns(part.text);
  return sum;
}

}  // namespace

std::string human_seconds(double seconds) {
  if (seconds < 0.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

bool was_interrupted(const run::StepOutcome& outcome) {
  return outcome.outcome == run::Outcome::failed && outcome.cause.starts_with("interrupted");
}

BuildStatus::BuildStatus(const plan::Plan& plan, Style style, bool live, bool verbose, Width width, Clock clock)
    : m_style(style),
      m_live(live),
      m_verbose(verbose),
      m_width(std::move(width)),
      m_clock(clock ? std::move(clock) : Clock(steady_seconds)),
      m_total(plan.steps.size()) {
  for (const plan::Step& step : plan.steps) m_estimates[step.id()] = step.decision.forecast.seconds;
}

// On a terminal, a path that does not fit starts a line of its own: one that is broken twice is hard to read and to
// copy.
std::string BuildStatus::before_path(std::size_t line) const {
  return m_live && line > m_style.width ? "\n      " : "  ";
}

std::string BuildStatus::finished_line(const run::StepOutcome& outcome) const {
  const std::string plain = was_interrupted(outcome) ? "interrupted" : std::string(run::to_string(outcome.outcome));
  const std::string word = outcome.made()                            ? m_style.green(plain)
                           : was_interrupted(outcome)                ? m_style.yellow(plain)
                           : outcome.outcome == run::Outcome::failed ? m_style.red(plain)
                                                                     : m_style.yellow(plain);
  const std::string count = fmt::format("[{}/{}]", m_finished, m_total);
  const std::string time = outcome.outcome == run::Outcome::built ? "  " + human_seconds(outcome.seconds) : "";
  std::string line = fmt::format("{} {} {}", m_style.dim(count), word, m_style.bold(outcome.id));
  if (!outcome.wheel.empty()) {
    const std::string wheel = outcome.wheel.string();
    line += before_path(columns(fmt::format("{} {} {}  {}{}", count, plain, outcome.id, wheel, time))) + wheel;
  }
  line += m_style.dim(time);
  if (outcome.outcome == run::Outcome::skipped) line += "  " + printable(outcome.cause);
  return line + "\n";
}

std::string BuildStatus::time_text(const Running& running) const {
  std::string text = short_seconds(m_clock() - running.started);
  if (running.estimate >= 1) text += fmt::format(" of ~{}", short_seconds(running.estimate));
  return text;
}

// Of the compilers, or of the whole job where nothing compiles.
std::string BuildStatus::job_memory(const Running& running, bool wide) {
  std::string text = memory_text(running.compiles, wide);
  if (!text.empty() || running.limit == 0) return text;
  return wide ? bytes_out_of(running.used, running.limit) : human_bytes(running.used);
}

std::string BuildStatus::line(const std::string& id, const Running& running) const {
  const std::size_t width = std::max<std::size_t>(m_style.width, 20) - 1;  // the last column may wrap
  const run::CompileStatus& compiles = running.compiles;
  std::vector<Part> parts = {
      {cut(id, std::max<std::size_t>(width / 3, 12), m_style.unicode), 9},
      {running.phase, 8},
      {printable(running.node), 6},
      {running.total == 0 || width < k_wide_line
           ? ""
           : m_style.bar(static_cast<double>(running.done) / static_cast<double>(running.total), 20),
       1},
      {done_text(running.done, running.total, !running.what.empty(), compiles), 7},
      {time_text(running), 6},
      {job_memory(running, width >= k_wide_line), 4},
      {hits_text(compiles), 3},
      {running.what.empty() ? unit_text(compiles) : printable(running.what), 5}};
  Part& unit = parts.back();
  const std::string others_running = running.what.empty() ? others_text(compiles) : "";
  unit.text += others_running;
  while (width_of(parts) > width) {
    // The last part may be truncated as long as enough of it remains readable.
    const std::size_t others = width_of(parts) - (unit.text.empty() ? 0 : columns(unit.text));
    if (!unit.text.empty() && others + k_least_unit <= width) {
      unit.text.resize(unit.text.size() - others_running.size());
      unit.text = cut(unit.text, width - others - others_running.size(), m_style.unicode) + others_running;
      break;
    }
    Part* least = nullptr;
    for (Part& part : parts) {
      if (!part.text.empty() && (least == nullptr || part.worth < least->worth)) least = &part;
    }
    if (least == &parts.front()) break;
    least->text.clear();
  }
  std::string text;
  for (const Part& part : parts) text += part.text.empty() ? "" : "  " + part.text;
  return cut(text, width, m_style.unicode);
}

std::vector<std::string> BuildStatus::lines() const {
  std::vector<std::string> result;
  // What runs is worth more than what a cluster has in its queue.
  for (const bool queued : {false, true}) {
    for (const auto& [id, running] : m_running) {
      if ((running.phase == k_queued) != queued) continue;
      if (result.size() + 1 == k_most_status_lines && m_running.size() > k_most_status_lines) {
        result.push_back(fmt::format("  and {} more", m_running.size() - result.size()));
        return result;
      }
      result.push_back(line(id, running));
    }
  }
  return result;
}

// Moves to the first of the previously drawn lines, writes `above` and the new lines, and erases the rest. Lines that
// were wrapped meanwhile because the terminal became narrower occupy several rows.
std::string BuildStatus::draw(const std::string& above) {
  if (m_width) m_style.width = std::max(m_width(), 20U);
  std::vector<std::string> next = lines();
  if (above.empty() && next == m_drawn) return "";
  std::size_t rows = 0;
  for (const std::string& old : m_drawn)
    rows += std::max<std::size_t>(1, (columns(old) + m_style.width - 1) / m_style.width);
  std::string text = rows == 0 ? "" : fmt::format("\x1b[{}A\r", rows);
  for (const std::string_view each : wheelsmith::lines(above)) text += fmt::format("{}\x1b[K\n", each);
  for (const std::string& each : next) text += each + "\x1b[K\n";
  if (!m_drawn.empty()) text += "\x1b[J";
  m_drawn = std::move(next);
  return text;
}

std::string BuildStatus::clear() {
  m_running.clear();
  return m_live ? draw("") : "";
}

std::string BuildStatus::redraw() { return m_live ? draw("") : ""; }

std::string BuildStatus::plain_line(const std::string& id, Running& running) const {
  running.told = m_clock();
  std::string text = "  " + id + ": ";
  bool first = true;
  for (const std::string& part :
       {done_text(running.done, running.total, !running.what.empty(), running.compiles), time_text(running),
        memory_text(running.compiles, true), hits_text(running.compiles),
        running.what.empty() ? unit_text(running.compiles) + others_text(running.compiles) : printable(running.what)}) {
    if (part.empty()) continue;
    text += (first ? "" : ", ") + part;
    first = false;
  }
  return text + "\n";
}

std::string BuildStatus::on_progress(const run::Event& event) {
  Running& running = m_running[event.step];
  const std::uint64_t before = running.total == 0 ? 0 : running.done * 10 / running.total;
  const bool is_new = running.total != event.total || running.what != event.text;
  running.done = event.done;
  running.total = event.total;
  running.what = event.done == event.total && !event.text.empty() ? "" : event.text;
  if (running.what.empty() && !event.text.empty()) running.done = running.total = 0;  // the download has finished
  // Without a terminal, one line per tenth is enough; on a terminal the status line shows progress.
  if (m_live || !event.text.empty() || event.total == 0) return "";
  return is_new || event.done * 10 / event.total != before ? plain_line(event.step, running) : "";
}

std::string BuildStatus::on_compiling(const run::Event& event) {
  Running& running = m_running[event.step];
  running.compiles = event.compiles;
  return !m_live && m_clock() - running.told >= k_tell_every ? plain_line(event.step, running) : "";
}

std::string BuildStatus::on_event(const run::Event& event) {
  std::string plain;
  switch (event.kind) {
    case run::Event::Kind::started: {
      Running running;
      running.phase = "starting";
      running.started = running.told = m_clock();
      running.estimate = m_estimates[event.step];
      m_running[event.step] = running;
      const std::string count = fmt::format("[{}/{}]", m_finished, m_total);
      const std::size_t size = columns(fmt::format("{} {}  log {}", count, event.step, event.text));
      plain = fmt::format("{} {}{}log {}\n", m_style.dim(count), event.step, before_path(size), event.text);
      break;
    }
    case run::Event::Kind::phase: {
      Running& running = m_running[event.step];
      running.phase = event.text;
      running.what.clear();
      running.done = running.total = 0;
      running.compiles = {};
      if (!m_live) plain = fmt::format("  {}: {}\n", event.step, event.text);
      break;
    }
    case run::Event::Kind::progress: plain = on_progress(event); break;
    case run::Event::Kind::compiling: plain = on_compiling(event); break;
    case run::Event::Kind::queued: {
      Running& running = m_running[event.step];
      running.phase = k_queued;
      running.node = event.text;
      if (!m_live) plain = fmt::format("  {}: queued, {}\n", event.step, printable(event.text));
      break;
    }
    case run::Event::Kind::placed: {
      Running& running = m_running[event.step];
      running.phase = "starting";
      running.node = event.text;
      running.started = running.told = m_clock();
      if (!m_live) plain = fmt::format("  {}: runs on {}\n", event.step, printable(event.text));
      break;
    }
    case run::Event::Kind::usage: {
      Running& running = m_running[event.step];
      running.used = event.compiles.used;
      running.limit = event.compiles.limit;
      break;
    }
    case run::Event::Kind::note:
      plain = fmt::format("{}: {}", event.step, printable(event.text));
      plain = m_style.dim("  " + (m_live ? m_style.wrap(plain, 4) : plain)) + "\n";
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
  return m_live ? draw(plain) : plain;
}

}  // namespace wheelsmith::report
