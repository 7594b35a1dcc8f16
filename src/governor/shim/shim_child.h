#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

// The real compiler, as a shim runs it. Only src/governor includes this.

namespace wheelsmith::governor {

struct ChildEnd {
  int exit_code = 0;  // as a shell counts
  int signal = 0;
  std::uint64_t largest_process = 0;  // bytes; what one process below held at most
};

// Its output is kept until it has ended, so that a first try leaves no trace; on a terminal it is passed through.
class ShimChild {
 public:
  // Throws Error when it cannot be started.
  ShimChild(const std::string& program, const std::vector<std::string>& argv,
            const std::vector<std::string>& environment);
  ~ShimChild();
  ShimChild(const ShimChild&) = delete;
  ShimChild& operator=(const ShimChild&) = delete;

  [[nodiscard]] pid_t pid() const { return m_pid; }
  // Waits to its end. `on_readable` is called when there is something to read from `fd` (-1: nothing to watch), and
  // `on_tick` ten times a second while `fd` is -1; both give the descriptor to watch from then on. `on_asked` is the
  // same for `asker`, the socket to what it started; while there is one, `on_tick` is called every second as well.
  ChildEnd wait(int fd, const std::function<int()>& on_readable, const std::function<int()>& on_tick, int asker = -1,
                const std::function<int()>& on_asked = {});
  // What it wrote, as far as it was kept.
  [[nodiscard]] std::string output() const;
  // Hands it on.
  void show_output() const;

 private:
  pid_t m_pid = -1;
  int m_kept_output = -1, m_kept_errors = -1;
};

// Replaces us. Returns only the errno of its failure.
int become(const std::string& program, const std::vector<std::string>& argv,
           const std::vector<std::string>& environment);

}  // namespace wheelsmith::governor
