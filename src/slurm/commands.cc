#include "slurm/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>

#include "base/error.h"
#include "base/text.h"
#include "sys/process/own_process.h"

namespace wheelsmith::slurm {

namespace {

constexpr std::chrono::seconds k_longest_call(60);

// Inside an allocation, Slurm's variables would become options of the new job. Those that users set for themselves hide
// jobs and nodes (SQUEUE_STATES, SINFO_PARTITION) or keep scancel from cancelling (SCANCEL_STATE).
bool changes_commands(std::string_view variable) {
  if (variable == "SLURM_CONF") return false;
  return std::ranges::any_of(std::initializer_list<std::string_view>{"SLURM_", "SBATCH_", "SQUEUE_", "SINFO_",
                                                                     "SCANCEL_", "SACCT_", "SCONTROL_"},
                             [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

std::string one_line(std::string_view text) {
  std::string line(trim(text));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return printable(line.substr(0, 500));
}

}  // namespace

Reply ProgramCommands::call(const std::vector<std::string>& words, const std::string& input) {
  if (sys::find_program(words.front()).empty())
    return {Answer::refused, "", fmt::format("there is no program {} in PATH", words.front())};
  sys::Command command;
  command.argv = words;
  command.input = input;
  command.timeout = k_longest_call;
  command.environment = sys::current_environment();
  // Jobs do not push, so they get no token.
  std::erase_if(*command.environment, [](const auto& item) {
    return changes_commands(item.first) || item.first == "WHEELSMITH_STORE_TOKEN";
  });
  // An interrupted call would leave a job with an unknown number, or one that was to be cancelled.
  const sys::Captured captured = sys::capture_to_the_end(command);
  Reply reply{classify(captured.exit.code, captured.errors), captured.output, one_line(captured.errors)};
  // While the controller refuses because it is full, sbatch repeats the submission for minutes.
  if (captured.exit.timed_out || captured.exit.stopped)
    reply.answer = classify(1, captured.errors) == Answer::later ? Answer::later : Answer::away;
  if (reply.answer != Answer::good && reply.errors.empty()) reply.errors = sys::to_string(captured.exit);
  return reply;
}

Submitted submit(Commands& commands, const Batch& batch) {
  Submitted result{commands.call(sbatch_words(batch), batch_script(batch))};
  if (result.reply.answer != Answer::good) return result;
  if (const auto job = parse_submitted(result.reply.text)) {
    result.job = *job;
  } else {
    result.reply.answer = Answer::refused;
    result.reply.errors = "sbatch printed no job number: " + one_line(result.reply.text);
  }
  return result;
}

// -a: with the partitions that are hidden.
Queue queue(Commands& commands) {
  Queue result{commands.call({"squeue", "-a", "-h", "-r", "-u", std::to_string(::geteuid()), "-o", k_queue_format}, ""),
               {}};
  if (result.reply.answer == Answer::good) result.jobs = parse_queue(result.reply.text);
  return result;
}

Ended ended(Commands& commands, const JobId& id) {
  const auto find = [&id](const std::vector<EndedJob>& jobs) -> std::optional<EndedJob> {
    for (const EndedJob& job : jobs) {
      if (job.id == id) return job;
    }
    return std::nullopt;
  };
  Ended result{commands.call({"scontrol", "show", "job", "-o", to_string(id)}, ""), {}};
  if (result.reply.answer == Answer::away) return result;
  if (result.reply.answer == Answer::good) result.job = find(parse_jobs(result.reply.text));
  if (result.job) return result;
  // Forgotten after MinJobAge. Small clusters have no accounting.
  const Reply accounting = commands.call({"sacct", "-n", "-P", "-j", to_string(id), "-o", k_accounting_format}, "");
  if (accounting.answer == Answer::good) result.job = find(parse_accounting(accounting.text));
  result.reply.answer = result.job ? Answer::good : Answer::no_job;
  return result;
}

Nodes nodes(Commands& commands) {
  Nodes result{commands.call({"sinfo", "-a", "-h", "-N", "-o", k_node_format}, ""), {}};
  if (result.reply.answer == Answer::good) result.nodes = parse_nodes(result.reply.text);
  return result;
}

Reply cancel(Commands& commands, const std::vector<JobId>& ids) {
  std::vector<std::string> words = {"scancel"};
  for (const JobId& id : ids) words.push_back(to_string(id));
  return commands.call(words, "");
}

}  // namespace wheelsmith::slurm
