#pragma once

#include <set>

#include "sys/process/process_tree_linux.h"
#include "sys/process/spawn_linux.h"

namespace wheelsmith::sys {

using OutputFunction = std::function<void(std::string_view)>;

// Shared by Process and capture(): a child from start to reaping. It stays a zombie until the object is destroyed, so
// that its PID and process group are not reused while signals may still be sent to them.
class Child {
 public:
  Child(const Command& command, ErrorStream errors);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const { return m_spawned.pid; }
  [[nodiscard]] const Fd& output() const { return m_spawned.output; }
  std::optional<std::string> read();
  std::optional<Exit> poll();
  Exit wait(const OutputFunction& on_output, const OutputFunction& on_errors, const std::function<bool()>& stop,
            std::chrono::milliseconds grace);
  void signal_tree(int signal);

 private:
  using Clock = std::chrono::steady_clock;

  // State of an early stop: requested at `since`, and which signals were sent.
  struct Ending {
    bool timed_out = false;
    Clock::time_point since;
    int sent = 0;
  };

  // One round of waiting and reading; false when there is nothing left to wait for.
  bool pump(const OutputFunction& on_output, const OutputFunction& on_errors, Clock::time_point until);
  void drain(Fd& fd, const OutputFunction& sink);
  void escalate(Ending& ending, std::chrono::milliseconds grace);

  std::optional<Clock::time_point> m_deadline;
  Clock::time_point m_start;
  Spawned m_spawned;
  Fd m_pidfd;
  bool m_lost = false;  // reaped elsewhere: the PID is no longer ours
  std::optional<Exit> m_exit;
  std::set<ProcessId> m_known;
};

}  // namespace wheelsmith::sys
