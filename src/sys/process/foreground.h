#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sys/io/fd.h"

// Processes that are not a Process (sys/process.h): a program that runs in our place, with our streams, terminal and
// process group, and a detached one.

namespace wheelsmith::sys {

struct ForegroundCommand {
  std::string program;  // a path
  std::vector<std::string> argv;
  std::vector<std::string> environment;   // "NAME=value", as execve takes it
  const Fd* output = nullptr;             // instead of our standard output; not open: ours
  const Fd* errors = nullptr;             // instead of our standard error; not open: ours
  std::string input_file = {};            // as its standard input; empty: ours
  std::string output_file = {};           // created anew, for both streams, instead of `output` and `errors`
  std::vector<int> default_signals = {};  // reset to their default, whatever we do with them
  int death_signal = 0;                   // sent to it when we end; 0: none
  int oom_score = 0;                      // oom_score_adj is raised to it
};

struct ForegroundExit {
  int code = 0;                       // as in a shell: 128 + signal for a killed process
  int signal = 0;                     // the signal that killed it, or 0
  std::uint64_t largest_process = 0;  // peak memory of one process in its tree, bytes
  double cpu_seconds = 0;             // of it and of the descendants that were waited for
};

class ForegroundProcess {
 public:
  // Throws Error when no process can be created.
  explicit ForegroundProcess(const ForegroundCommand& command);
  ForegroundProcess(const ForegroundProcess&) = delete;
  ForegroundProcess& operator=(const ForegroundProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return m_pid; }
  // The errno of a program that could not be started, whose exit code is then 127 or 126; otherwise 0.
  [[nodiscard]] int start_error() const { return m_start_error; }
  // Readable when it has exited; not open on kernels before 5.3.
  [[nodiscard]] const Fd& end() const { return m_end; }
  // Does not wait.
  [[nodiscard]] std::optional<ForegroundExit> poll();
  ForegroundExit wait();
  void signal(int number) const;

 private:
  std::optional<ForegroundExit> reap(int options);

  pid_t m_pid = -1;
  int m_start_error = 0;
  Fd m_end;
  std::optional<ForegroundExit> m_exit;
};

// Executes the program in this process. Returns only on failure, with its errno. Preloaded libraries do not see the
// call.
int become_program(const std::string& program, const std::vector<std::string>& argv,
                   const std::vector<std::string>& environment);

// Starts a program that is not waited for and inherits no descriptors: otherwise a reader of our output would wait for
// that program's exit.
void start_detached(const std::string& program, const std::vector<std::string>& argv,
                    const std::vector<std::string>& environment);

}  // namespace wheelsmith::sys
