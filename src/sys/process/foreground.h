#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sys/io/fd.h"

// Processes that are not Process (sys/process.h): a program that runs in our place, with our streams, our terminal and
// our process group, and one that has nothing to do with us any more.

namespace wheelsmith::sys {

struct ForegroundCommand {
  std::string program;  // a path
  std::vector<std::string> argv;
  std::vector<std::string> environment;   // "NAME=value", as execve takes it
  const Fd* output = nullptr;             // instead of our standard output; not open: ours
  const Fd* errors = nullptr;             // instead of our standard error; not open: ours
  std::vector<int> default_signals = {};  // that it answers as programs do, whatever we do with them
  int death_signal = 0;                   // sent to it when we end; 0: none
  int oom_score = 0;                      // oom_score_adj is raised to it
};

struct ForegroundExit {
  int code = 0;                       // as a shell counts: 128 + signal for one that was killed
  int signal = 0;                     // what killed it, or 0
  std::uint64_t largest_process = 0;  // bytes that one process of its tree held at most
};

class ForegroundProcess {
 public:
  // Throws Error when there cannot be another process.
  explicit ForegroundProcess(const ForegroundCommand& command);
  ForegroundProcess(const ForegroundProcess&) = delete;
  ForegroundProcess& operator=(const ForegroundProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return m_pid; }
  // The errno of a program that could not be started, whose exit code is 127 or 126 then; 0 for one that was.
  [[nodiscard]] int start_error() const { return m_start_error; }
  // Ready to read when it has ended; not open on kernels before 5.3.
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

// Becomes the program. Returns only the errno of its failure. No library that is preloaded into us sees the call.
int become_program(const std::string& program, const std::vector<std::string>& argv,
                   const std::vector<std::string>& environment);

// Starts a program that nobody waits for and that holds nothing of ours open: a reader of our output that waits for its
// end would wait for that program otherwise.
void start_detached(const std::string& program, const std::vector<std::string>& argv,
                    const std::vector<std::string>& environment);

}  // namespace wheelsmith::sys
