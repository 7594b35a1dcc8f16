#pragma once

#include <set>

#include "sys/process/process_tree_linux.h"
#include "sys/process/spawn_linux.h"

namespace wheelsmith::sys {

using OutputFunction = std::function<void(std::string_view)>;

// What Process and capture() share: a child of ours from its start to the moment it is reaped. It stays a zombie until
// the object goes, so that its number, and its group's, belongs to nobody else while we may still send signals to it.
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

  // Where an early end stands: asked for at `since`, and how far the signals have gone.
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
  bool m_lost = false;  // reaped by somebody else: the number is no longer ours
  std::optional<Exit> m_exit;
  std::set<ProcessId> m_known;
};

}  // namespace wheelsmith::sys
