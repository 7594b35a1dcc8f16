#include "slurm/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "base/byte_size.h"
#include "base/text.h"

namespace wheelsmith::slurm {

namespace {

constexpr std::uint64_t k_most_seconds = 100ull * 365 * 24 * 3600;
constexpr std::uint64_t k_mebibyte = 1ull << 20;

// Values that stand for nothing.
bool is_nothing(std::string_view text) {
  return text.empty() || text == "(null)" || text == "None" || text == "N/A" || text == "None assigned";
}

std::string value_or_empty(std::string_view text) { return is_nothing(text) ? "" : std::string(text); }

// "0:125": exit status and signal.
void read_exit(std::string_view text, EndedJob& job) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto number = [](std::string_view part) {
    return static_cast<int>(std::min<std::uint64_t>(to_number(part).value_or(0), 255));
  };
  job.exit_code = number(text.substr(0, colon));
  job.signal = number(text.substr(std::min(colon + 1, text.size())));
}

// "123K", "1.5G", "0": powers of 1024, whatever the letter.
std::uint64_t parse_memory(std::string_view text) {
  if (text.empty()) return 0;
  const char unit = text.back();
  std::string with_unit(text);
  if (unit == 'K' || unit == 'M' || unit == 'G' || unit == 'T') with_unit += "iB";
  return parse_byte_size(with_unit).value_or(0);
}

// The words "Name=value" of a line. A value may hold blanks (a path, a reason): it ends where the next word has an '='
// behind a name of letters.
std::vector<std::pair<std::string_view, std::string_view>> read_pairs(std::string_view line) {
  std::vector<std::pair<std::string_view, std::string_view>> result;
  const auto is_name = [](std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '/' || c == ':' || c == '_';
    });
  };
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::string_view word = line.substr(at, end - at);
    const std::size_t equals = word.find('=');
    if (equals != word.npos && is_name(word.substr(0, equals)))
      result.emplace_back(word.substr(0, equals), line.substr(at + equals + 1, word.size() - equals - 1));
    else if (!result.empty() && !word.empty())
      result.back().second = std::string_view(
          result.back().second.data(), static_cast<std::size_t>(line.data() + end - result.back().second.data()));
    at = end + 1;
  }
  return result;
}

}  // namespace

std::string to_string(const JobId& id) {
  return id.task ? fmt::format("{}_{}", id.job, *id.task) : fmt::format("{}", id.job);
}

std::optional<JobId> parse_job_id(std::string_view text) {
  const std::size_t underscore = text.find('_');
  const auto job = to_number(text.substr(0, underscore));
  if (!job || *job == 0) return std::nullopt;
  if (underscore == text.npos) return JobId{*job};
  const auto task = to_number(text.substr(underscore + 1));
  if (!task || *task > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return JobId{*job, static_cast<std::uint32_t>(*task)};
}

JobState job_state_named(std::string_view text) {
  text = trim(text);
  text = text.substr(0, text.find(' '));
  if (const auto state = enum_named<JobState>(text)) return *state;
  if (text.size() > 3 && text.ends_with('+')) {
    text.remove_suffix(1);
    for (std::size_t i = 0; i < EnumNames<JobState>::list.size(); ++i) {
      if (std::string_view(EnumNames<JobState>::list[i]).starts_with(text)) return static_cast<JobState>(i);
    }
  }
  // Names for shades of the states above.
  if (text == "CONFIGURING" || text == "STOPPED" || text == "SIGNALING" || text == "STAGE_OUT" || text == "RESIZING")
    return JobState::running;
  if (text == "REQUEUED" || text == "REQUEUE_FED" || text == "REQUEUE_HOLD" || text == "RESV_DEL_HOLD" ||
      text == "SPECIAL_EXIT")
    return JobState::pending;
  if (text == "REVOKED") return JobState::cancelled;
  if (text == "LAUNCH_FAILED" || text == "RECONFIG_FAIL") return JobState::boot_fail;
  return JobState::unknown;
}

bool is_active(JobState state) {
  return state == JobState::pending || state == JobState::running || state == JobState::suspended ||
         state == JobState::completing;
}

std::optional<std::uint64_t> parse_submitted(std::string_view text) {
  std::optional<std::uint64_t> found;
  for (std::string_view line : lines(text)) {
    line = trim(line);
    const auto number = to_number(line.substr(0, line.find(';')));
    if (number && *number != 0) found = number;
  }
  return found;
}

std::vector<QueuedJob> parse_queue(std::string_view text) {
  std::vector<QueuedJob> result;
  for (const std::string_view line : lines(text)) {
    const std::vector<std::string_view> fields = split(line, '|');
    if (fields.size() < 6) continue;
    const auto id = parse_job_id(trim(fields[0]));
    if (!id) continue;
    QueuedJob job{.id = *id, .state = job_state_named(fields[1])};
    job.seconds = parse_duration(fields[2]).value_or(0);
    job.node = value_or_empty(fields[3]);
    job.name = fields[4];
    const std::size_t behind = static_cast<std::size_t>(fields[5].data() - line.data());
    job.reason = value_or_empty(trim(line.substr(behind)));
    result.push_back(std::move(job));
  }
  return result;
}

std::vector<EndedJob> parse_jobs(std::string_view text) {
  std::vector<EndedJob> result;
  for (const std::string_view line : lines(text)) {
    EndedJob job;
    std::optional<std::uint64_t> array, task;
    for (const auto& [name, value] : read_pairs(line)) {
      if (name == "JobId")
        job.id.job = to_number(value).value_or(0);
      else if (name == "ArrayJobId")
        array = to_number(value);
      else if (name == "ArrayTaskId")
        task = to_number(value);
      else if (name == "JobName")
        job.name = value;
      else if (name == "JobState")
        job.state = job_state_named(value);
      else if (name == "Reason")
        job.reason = value_or_empty(value);
      else if (name == "ExitCode")
        read_exit(value, job);
      else if (name == "RunTime")
        job.seconds = parse_duration(value).value_or(0);
      else if (name == "TimeLimit")
        job.time_limit = parse_duration(value);
      else if (name == "NodeList")
        job.node = value_or_empty(value);
    }
    if (job.id.job == 0) continue;
    if (array && task && *task <= std::numeric_limits<std::uint32_t>::max())
      job.id = {*array, static_cast<std::uint32_t>(*task)};
    result.push_back(std::move(job));
  }
  return result;
}

std::vector<EndedJob> parse_accounting(std::string_view text) {
  std::map<JobId, EndedJob> jobs;
  for (const std::string_view line : lines(text)) {
    const std::vector<std::string_view> fields = split(line, '|');
    if (fields.size() < 7) continue;
    const std::size_t dot = fields[0].find('.');
    const auto id = parse_job_id(fields[0].substr(0, dot));
    if (!id) continue;
    EndedJob& job = jobs[*id];
    job.id = *id;
    job.peak_memory = std::max(job.peak_memory, parse_memory(trim(fields[5])));
    if (dot != fields[0].npos) continue;
    job.name = fields[1];
    job.state = job_state_named(fields[2]);
    read_exit(fields[3], job);
    job.seconds = std::min(to_number(fields[4]).value_or(0), k_most_seconds);
    job.node = value_or_empty(trim(fields[6]));
  }
  std::vector<EndedJob> result;
  for (auto& [id, job] : jobs) result.push_back(std::move(job));
  return result;
}

bool Node::usable() const {
  if (!state.empty() && (state.back() == '*' || state.back() == '$')) return false;  // does not answer; maintenance
  for (const std::string_view bad : {"down", "drain", "fail", "unknown", "maint", "future", "inval"}) {
    if (state.find(bad) != state.npos) return false;
  }
  return true;
}

bool Node::has_gpu() const { return gres.find("gpu") != gres.npos; }

std::vector<Node> parse_nodes(std::string_view text) {
  std::vector<Node> result;
  for (const std::string_view line : lines(text)) {
    const std::vector<std::string_view> fields = split(line, '|');
    if (fields.size() < 8 || trim(fields[0]).empty()) continue;
    Node node{.name = std::string(trim(fields[0])), .partition = std::string(trim(fields[1]))};
    if (node.partition.ends_with('*')) {
      node.default_partition = true;
      node.partition.pop_back();
    }
    node.state = to_lower(trim(fields[2]));
    const auto number = [](std::string_view part) {
      part = trim(part);
      if (part.ends_with('+')) part.remove_suffix(1);  // "at least": nodes of a group differ
      return to_number(part).value_or(0);
    };
    node.cpus = static_cast<unsigned>(std::min<std::uint64_t>(number(fields[3]), 1 << 20));
    node.memory = std::min<std::uint64_t>(number(fields[4]), 1ull << 40) * k_mebibyte;
    node.time_limit = parse_duration(trim(fields[5]));
    node.gres = value_or_empty(trim(fields[6]));
    node.features = value_or_empty(trim(fields[7]));
    result.push_back(std::move(node));
  }
  return result;
}

std::optional<std::uint64_t> parse_duration(std::string_view text) {
  text = trim(text);
  std::uint64_t days = 0;
  const std::size_t dash = text.find('-');
  if (dash != text.npos) {
    const auto number = to_number(text.substr(0, dash));
    if (!number || *number > 365ull * 100) return std::nullopt;
    days = *number;
    text.remove_prefix(dash + 1);
  }
  std::uint64_t seconds = 0;
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() > 3) return std::nullopt;
  for (const std::string_view part : parts) {
    const auto number = to_number(part);
    if (!number || *number > k_most_seconds) return std::nullopt;
    seconds = seconds * 60 + *number;
  }
  // "5" is minutes; "1-5" and "1-5:30" begin with hours.
  if (dash != text.npos && parts.size() < 3)
    seconds *= parts.size() == 1 ? 3600 : 60;
  else if (parts.size() == 1)
    seconds *= 60;
  return std::min(days * 24 * 3600 + seconds, k_most_seconds);
}

std::string to_minutes(std::uint64_t seconds) {
  return fmt::format("{}", std::max<std::uint64_t>(1, (seconds + 59) / 60));
}

// The texts are those of slurm_strerror() and have not changed since version 14.
Answer classify(int exit_code, std::string_view errors) {
  if (exit_code == 0) return Answer::good;
  const std::string lower = to_lower(errors);
  const auto says = [&lower](std::initializer_list<std::string_view> texts) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](std::string_view text) { return lower.find(text) != lower.npos; });
  };
  if (says({"invalid job id"})) return Answer::no_job;
  if (says({"unable to contact slurm controller", "socket timed out", "connection refused", "connection timed out",
            "connection reset", "zero bytes were transmitted", "communication connection failure", "slurmctld is in",
            "slurmctld in standby", "backup", "munge encode failed", "failed to connect to",
            "protocol authentication error", "transport endpoint", "slurm_persist_conn", "unexpected message",
            "no route to host"}))
    return Answer::away;
  if (says({"temporarily unable to accept job", "temporarily unavailable", "submit limit", "maxsubmitjob", "maxjob",
            "job violates accounting/qos policy", "too many", "try again", "rate limit"}))
    return Answer::later;
  return Answer::refused;
}

}  // namespace wheelsmith::slurm
