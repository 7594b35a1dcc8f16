#include "slurm/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/text.h"
#include "sys/process/process.h"

namespace wheelsmith::slurm {

namespace {

constexpr std::uint64_t k_batch_mebibyte = 1ull << 20;

// Options that the executor sets. A second value would break it silently.
constexpr std::array<std::string_view, 24> k_own_options = {
    "--array",  "-a",         "--output",   "-o",           "--error", "-e",          "--input",     "-i",
    "--wrap",   "--parsable", "--job-name", "-J",           "--chdir", "-D",          "--requeue",   "--no-requeue",
    "--export", "--wait",     "-W",         "--dependency", "-d",      "--open-mode", "--test-only", "--export-file"};

void check_option(const std::string& word) {
  if (word.size() < 2 || word[0] != '-')
    throw Error(fmt::format("slurm.options {}: must be options of sbatch, like --account=x", printable(word)));
  std::string_view name = std::string_view(word).substr(0, word.find('='));
  if (!word.starts_with("--")) name = name.substr(0, 2);
  if (name == "--clusters" || name == "--cluster" || name == "-M")
    throw Error(
        fmt::format("slurm.options {}: jobs must run in the cluster that squeue and scontrol ask", printable(word)));
  if (is_one_of(name, k_own_options))
    throw Error(fmt::format("slurm.options {}: wheelsmith sets {} itself", printable(word), name));
}

unsigned read_count(const std::string& key, const std::string& value, std::uint64_t least) {
  const auto number = to_number(value);
  if (!number || *number < least || *number > 1'000'000)
    throw Error(fmt::format("slurm.{} {}: must be a whole number from {} to 1000000", key, printable(value), least));
  return static_cast<unsigned>(*number);
}

// A word that sbatch takes for itself and not for another option.
std::string read_word(const std::string& key, const std::string& value) {
  if (value.starts_with('-') || value.find('\n') != value.npos || value.find('\0') != value.npos)
    throw Error(fmt::format("slurm.{} {}: is not a valid name", key, printable(value)));
  return value;
}

}  // namespace

const std::map<std::string, std::string>& site_keys() {
  static const std::map<std::string, std::string> keys = {
      {"partition", "Partition for the jobs"},
      {"account", "Account to charge"},
      {"qos", "Quality of service"},
      {"constraint", "Features that a node must have"},
      {"options", "More options for sbatch, as a list"},
      {"gpu-partition", "Partition for tests that need a GPU"},
      {"gpus", "Value of --gpus for such a test; of --gres if it begins with gpu:"},
      {"cpus", "Cores of each step"},
      {"memory", "Memory of each step"},
      {"time", "Time limit of each step, like 4:00:00"},
      {"nodes", "Nodes of each step; the compiles are spread over them"},
      {"max-queued", "Jobs in the queue at once, running ones included"},
      {"submit-rate", "Calls of sbatch per minute"},
  };
  return keys;
}

void set_site_option(SiteOptions& site, SubmitLimits& limits, const std::string& key, const std::string& value) {
  if (key == "partition")
    site.partition = read_word(key, value);
  else if (key == "account")
    site.account = read_word(key, value);
  else if (key == "qos")
    site.qos = read_word(key, value);
  else if (key == "constraint")
    site.constraint = read_word(key, value);
  else if (key == "gpu-partition")
    site.gpu_partition = read_word(key, value);
  else if (key == "gpus")
    site.gpus = read_word(key, value);
  else if (key == "options") {
    site.options.clear();
    for (const std::string_view word : split(value, '\n')) {
      if (trim(word).empty()) continue;
      check_option(std::string(trim(word)));
      site.options.emplace_back(trim(word));
    }
  } else if (key == "cpus")
    site.cpus = read_count(key, value, 1);
  else if (key == "nodes")
    site.nodes = read_count(key, value, 1);
  else if (key == "memory") {
    const auto bytes = parse_byte_size(value);
    if (!bytes || *bytes == 0) throw Error(fmt::format("slurm.memory {}: must be a size like 32GB", printable(value)));
    site.memory = *bytes;
  } else if (key == "time") {
    const auto seconds = parse_duration(value);
    if (!seconds || *seconds == 0)
      throw Error(fmt::format("slurm.time {}: must be minutes, H:MM:SS or D-HH:MM:SS", printable(value)));
    site.seconds = *seconds;
  } else if (key == "max-queued")
    limits.most_queued = read_count(key, value, 1);
  else if (key == "submit-rate")
    limits.per_minute = read_count(key, value, 1);
  else {
    std::vector<std::string> known;
    for (const auto& [name, help] : site_keys()) known.push_back(name);
    const auto near = nearest(key, known);
    throw Error(fmt::format("slurm.{}: there is no such setting{}", printable(key),
                            near ? "; did you mean slurm." + *near + "?" : ""));
  }
}

std::string job_name(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, 40)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    name += plain ? c : '-';
  }
  return name.empty() ? "step" : name;
}

std::vector<std::string> sbatch_words(const Batch& batch) {
  const SiteOptions& site = batch.site;
  const Request& request = batch.request;
  std::vector<std::string> words = {"sbatch", "--parsable", "--no-requeue", "--job-name=" + batch.name};
  const auto add = [&words](std::string_view name, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("--{}={}", name, value));
  };
  const bool gpu = request.gpus != 0;
  // The user's own words come first: what follows holds where both say something.
  words.insert(words.end(), site.options.begin(), site.options.end());
  add("partition", gpu && !site.gpu_partition.empty() ? site.gpu_partition : site.partition);
  add("account", site.account);
  add("qos", site.qos);
  add("constraint", site.constraint);
  add("exclude", join(request.excluded, ","));
  const unsigned nodes = std::max(1u, request.nodes);
  words.insert(words.end(), {fmt::format("--nodes={}", nodes), fmt::format("--ntasks={}", nodes),
                             fmt::format("--cpus-per-task={}", std::max(1u, request.cpus))});
  // The step survives the loss of a node other than its first: the compiles that ran there run again elsewhere.
  if (nodes > 1) words.insert(words.end(), {"--ntasks-per-node=1", "--no-kill"});
  if (request.memory != 0)
    words.push_back(fmt::format("--mem={}M", (request.memory + k_batch_mebibyte - 1) / k_batch_mebibyte));
  if (request.seconds != 0) add("time", to_minutes(request.seconds));
  // "gpu:1" is a generic resource: --gpus takes a count or TYPE:COUNT, and needs select/cons_tres.
  if (gpu) add(site.gpus.starts_with("gpu:") ? "gres" : "gpus", site.gpus);
  if (batch.tasks > 1) words.push_back(fmt::format("--array=0-{}", batch.tasks - 1));
  // Slurm replaces %j and its like in the name; ours holds none that is meant. In a name with a backslash it replaces
  // nothing, and removes one backslash of each pair: then the tasks of an array cannot have files of their own.
  std::string errors = batch.errors.string();
  const bool escaped = errors.find('\\') != errors.npos;
  if (escaped)
    replace_all(errors, "\\", "\\\\");
  else
    replace_all(errors, "%", "%%");
  if (errors.empty() || (escaped && batch.tasks > 1))
    errors = "/dev/null";
  else if (batch.tasks > 1)
    errors += ".%a";
  add("output", errors);
  words.insert(words.end(), {"--open-mode=append", "--chdir=/"});
  return words;
}

// Nothing but one command with quoted words: what differs between the tasks of an array is found out by the program.
std::string batch_script(const Batch& batch) {
  std::vector<std::string> words = {batch.program.string()};
  words.insert(words.end(), batch.arguments.begin(), batch.arguments.end());
  return fmt::format("#!/bin/sh\nexec {}\n", sys::shell_quoted(words));
}

std::vector<std::vector<std::size_t>> group(const std::vector<Shape>& waiting, std::size_t most) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const std::vector<std::size_t>& one) {
      return one.size() < most && waiting[one.front()] == waiting[i];
    });
    if (same != groups.end())
      same->push_back(i);
    else
      groups.push_back({i});
  }
  return groups;
}

Throttle::Throttle(double per_minute)
    : m_rate(std::max(per_minute, 0.1) / 60), m_most(std::max(1.0, per_minute / 6)), m_held(m_most) {}

bool Throttle::take(double now) {
  if (m_begun) m_held = std::min(m_most, m_held + std::max(0.0, now - m_at) * m_rate);
  m_begun = true;
  m_at = now;
  if (m_held < 1) return false;
  m_held -= 1;
  return true;
}

double back_off(unsigned failures) { return std::min(30.0, double(1u << std::min(failures, 5u))); }

}  // namespace wheelsmith::slurm
