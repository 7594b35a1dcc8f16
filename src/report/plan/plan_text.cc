#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/build/build.h"
#include "report/plan/plan.h"

namespace wheelsmith::report {

namespace {

constexpr std::size_t k_short_key = 12;

std::string time_text(const plan::Forecast& forecast) {
  return forecast.seconds > 0 ? "about " + human_seconds(forecast.seconds) : "unknown";
}

std::string size_text(std::uint64_t bytes) { return bytes == 0 ? "unknown" : human_bytes(bytes); }

// "about 12 s, 400 MB memory per job, 20 MB disk, wheel 600 kB (from history)"
std::string forecast_text(const plan::Forecast& forecast) {
  std::vector<std::string> parts;
  if (forecast.seconds > 0) parts.push_back(time_text(forecast));
  if (forecast.memory_per_job != 0) parts.push_back(human_bytes(forecast.memory_per_job) + " memory per job");
  if (forecast.disk != 0) parts.push_back(human_bytes(forecast.disk) + " disk");
  if (forecast.wheel_size != 0) parts.push_back("wheel " + human_bytes(forecast.wheel_size));
  if (parts.empty()) return "no estimate of its cost";
  return join(parts, ", ") +
         (forecast.from == plan::Forecast::From::nothing ? "" : fmt::format(" (from {})", enum_name(forecast.from)));
}

// "torch 2.13.0+cpu; downloads 312 MB (14 files)"; "" if there is neither.
std::string environment_text(const plan::Step& step) {
  std::vector<std::string> parts;
  const std::string& torch = step.spec.environment.torch_build.version;
  if (!torch.empty()) parts.push_back("torch " + torch);
  if (const plan::DownloadForecast& download = step.decision.download; download.files != 0)
    parts.push_back(download_text(download));
  return join(parts, "; ");
}

std::string state_text(const plan::Step& step, const Style& style, std::size_t width) {
  const bool cached = step.decision.cached;
  const std::string word = pad_right(step.is_skipped() ? "skip" : cached ? "cached" : "build", width);
  return cached ? style.green(word) : step.is_skipped() ? style.dim(word) : style.yellow(word);
}

std::string needs_text(const plan::Plan& plan, const plan::Step& step) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const auto is_it = [&](const plan::Edge& need) { return need.step == plan.steps[i].id(); };
    if (std::any_of(step.needs.begin(), step.needs.end(), is_it)) numbers.push_back(std::to_string(i + 1));
  }
  return numbers.empty() ? "" : "; after " + join(numbers, ", ");
}

struct Totals {
  std::size_t cached = 0, skipped = 0, unknown = 0;
  double seconds = 0, longest = 0;
  std::uint64_t memory = 0, disk = 0, wheels = 0;
};

Totals totals_of(const plan::Plan& plan) {
  Totals totals;
  for (const plan::Step& step : plan.steps) {
    totals.wheels += step.decision.forecast.wheel_size;
    if (step.decision.cached) {
      ++totals.cached;
      continue;
    }
    if (step.is_skipped()) {
      ++totals.skipped;
      continue;
    }
    if (step.decision.forecast.seconds <= 0) ++totals.unknown;
    totals.seconds += step.decision.forecast.seconds;
    totals.memory = std::max(totals.memory, step.decision.forecast.memory_per_job);
    totals.disk += step.decision.forecast.disk;
  }
  for (const double seconds : plan::critical_seconds(plan)) totals.longest = std::max(totals.longest, seconds);
  return totals;
}

std::string totals_text(const plan::Plan& plan) {
  const Totals totals = totals_of(plan);
  std::string text =
      fmt::format("{} step{}: {} to build, {} cached", plan.steps.size(), plan.steps.size() == 1 ? "" : "s",
                  plan.steps.size() - totals.cached - totals.skipped, totals.cached);
  if (totals.skipped != 0) text += fmt::format(", {} skipped", totals.skipped);
  if (totals.seconds > 0) {
    text += fmt::format("; about {}", human_seconds(totals.seconds));
    if (totals.longest < totals.seconds * 0.99)
      text += fmt::format(", {} on the critical path", human_seconds(totals.longest));
  }
  if (totals.memory != 0) text += fmt::format("; {} memory per job", human_bytes(totals.memory));
  if (totals.disk != 0) text += fmt::format("; {} disk", human_bytes(totals.disk));
  if (totals.unknown != 0) text += fmt::format("; {} of unknown cost", totals.unknown);
  return text + "\n";
}

std::string notes_text(const std::vector<std::string>& notes, const Style& style) {
  std::string text;
  for (const std::string& note : notes) {
    const bool loud = note.starts_with("warning: ");
    text += (loud ? style.wrap(printable(note), 9) : style.dim("note: " + style.wrap(printable(note), 6))) + "\n";
  }
  return text;
}

// Whether two steps are equal except for their architecture lists.
bool is_same_but_archs(const plan::Step& a, const plan::Step& b) {
  return a.spec.package == b.spec.package && a.spec.variant == b.spec.variant && a.spec.target == b.spec.target &&
         a.spec.python.abi == b.spec.python.abi;
}

class Comparison {
 public:
  explicit Comparison(const Style& style) : m_style(style) {}

  void head(const std::string& title) { m_text += m_style.bold(printable(title)) + "\n"; }
  void row(const std::string& name, const std::string& left, const std::string& right) {
    const std::string shown = pad_right(printable(left), 34);
    m_text += fmt::format("  {}{}{}\n", pad_right(name, 16), shown,
                          left == right ? m_style.dim("the same") : printable(right));
  }
  void add(const plan::Step& left, const plan::Step& right) {
    const plan::Forecast& a = left.decision.forecast;
    const plan::Forecast& b = right.decision.forecast;
    head(fmt::format("{} {} {}", left.spec.package, recipe::to_string(left.spec.variant), left.spec.python.abi));
    row("architectures", left.spec.archs.to_string(), right.spec.archs.to_string());
    row("time", time_text(a), time_text(b));
    row("memory per job", size_text(a.memory_per_job), size_text(b.memory_per_job));
    row("disk", size_text(a.disk), size_text(b.disk));
    row("wheel", size_text(a.wheel_size), size_text(b.wheel_size));
    row("key", left.spec.key.substr(0, k_short_key), right.spec.key.substr(0, k_short_key));
    row("state", left.decision.cached ? "cached" : "build", right.decision.cached ? "cached" : "build");
  }
  [[nodiscard]] const std::string& text() const { return m_text; }

 private:
  const Style& m_style;
  std::string m_text;
};

}  // namespace

std::string download_text(const plan::DownloadForecast& download) {
  const std::string files = counted(download.files, "file");
  if (download.unknown == download.files) return fmt::format("downloads {} of unknown size", files);
  return fmt::format("downloads {} ({}{})", human_bytes(download.bytes), files,
                     download.unknown == 0 ? "" : fmt::format(", {} of unknown size", download.unknown));
}

namespace {

std::string platform_text(const plan::Step& step, const Style& style) {
  std::string text;
  for (const recipe::OtherPlatform& platform : step.closing.other_rules) {
    text += fmt::format("     on {}{}:\n", printable(step.spec.platform),
                        platform.tag.empty() ? "" : fmt::format(" (tag {})", printable(platform.tag)));
    for (const recipe::OtherPlatform::Rule& rule : platform.rules) {
      text += fmt::format("       {}: {}{}{}\n", style.bold(printable(rule.id)), style.wrap(printable(rule.what), 9),
                          rule.why.empty() ? "" : ", because " + style.wrap(printable(rule.why), 9),
                          rule.fix.empty() ? "" : "; " + style.wrap(printable(rule.fix), 9));
    }
    for (const auto& [name, value] : platform.environment)
      text += fmt::format("       {}={}\n", name, printable(value));
  }
  return text;
}

}  // namespace

std::string plan_text(const plan::Plan& plan, const Style& style) {
  std::size_t width = 0;
  for (const plan::Step& step : plan.steps) width = std::max(width, columns(printable(step.id())));
  width = std::min<std::size_t>(width, 60);
  std::string text;
  std::size_t number = 0;
  for (const plan::Step& step : plan.steps) {
    text += fmt::format("{}  {}  {}  {}\n", pad_left(std::to_string(++number), 3),
                        style.bold(pad_right(printable(step.id()), width)), state_text(step, style, 6),
                        style.dim(style.details ? step.spec.key : step.spec.key.substr(0, k_short_key)));
    text += "     " + style.wrap(printable(step.decision.reason) + needs_text(plan, step), 5) + "\n";
    if (const std::string line = environment_text(step); !line.empty() && !step.is_skipped())
      text += "     " + style.wrap(printable(line), 5) + "\n";
    if (!step.decision.cached && !step.is_skipped())
      text += "     " + style.dim(style.wrap(forecast_text(step.decision.forecast), 5)) + "\n";
    text += platform_text(step, style);
  }
  return text + notes_text(plan.notes, style) + totals_text(plan);
}

std::string compare_text(const plan::Plan& plan, const plan::Plan& other, const Style& style) {
  Comparison comparison(style);
  for (const plan::Step& step : plan.steps) {
    const auto match = std::find_if(other.steps.begin(), other.steps.end(),
                                    [&](const plan::Step& one) { return is_same_but_archs(step, one); });
    if (match != other.steps.end()) comparison.add(step, *match);
  }
  const Totals left = totals_of(plan), right = totals_of(other);
  const auto time = [](const Totals& totals) {
    return totals.seconds > 0 ? "about " + human_seconds(totals.seconds) : std::string("unknown");
  };
  comparison.head("total");
  comparison.row("time", time(left), time(right));
  comparison.row("memory per job", size_text(left.memory), size_text(right.memory));
  comparison.row("disk", size_text(left.disk), size_text(right.disk));
  comparison.row("wheels", size_text(left.wheels), size_text(right.wheels));
  std::vector<std::string> notes = plan.notes;
  for (const std::string& note : other.notes) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
  return comparison.text() + notes_text(notes, style);
}

std::string recipes_text(const recipe::Library& library, const Style& style) {
  std::size_t width = 0;
  for (const std::string& name : library.names()) width = std::max(width, columns(printable(name)));
  std::string text;
  for (const std::string& name : library.names()) {
    const recipe::Recipe& recipe = *library.find(name);
    std::vector<std::string> variants;
    for (const recipe::Variant variant : recipe.variants()) {
      std::vector<std::string> targets = recipe.targets(variant);
      std::erase(targets, "");
      const std::string word(recipe::to_string(variant));
      variants.push_back(targets.empty() ? word : fmt::format("{} ({})", word, join(targets, ", ")));
    }
    text += fmt::format("{}  {}\n", style.bold(pad_right(printable(name), width)),
                        style.wrap(printable(recipe.summary), width + 2));
    text += std::string(width + 2, ' ') +
            style.dim(style.wrap(printable(join(variants, ", ") + "; " + recipe.origin), width + 2)) + "\n";
  }
  for (const auto& [name, error] : library.broken())
    text += fmt::format("{} {}: {}\n", style.red("broken"), printable(name), style.wrap(printable(error), 4));
  return text;
}

}  // namespace wheelsmith::report
