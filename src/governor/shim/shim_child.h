#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sys/io/memory_file.h"
#include "sys/process/foreground.h"

// The real compiler as run by a shim. Only src/governor includes this.

namespace wheelsmith::governor {

// Its output is buffered until it exits, so that a failed attempt leaves no trace; on a terminal it is passed through.
class ShimChild {
 public:
  // Throws Error when no process can be created.
  // `keep`: buffer even on a terminal.
  ShimChild(const std::string& program, const std::vector<std::string>& argv,
            const std::vector<std::string>& environment, bool keep);

  // What to watch from now on; null: nothing.
  using Watch = std::function<const sys::Fd*()>;
  // Waits for its exit. `on_readable` is called when `news` is readable, and `on_tick` ten times a second while that is
  // not open; both return what to watch from then on.
  sys::ForegroundExit wait(const sys::Fd* news, const Watch& on_readable, const Watch& on_tick);
  // Its buffered output. Where both streams go to one place, everything is in the errors.
  [[nodiscard]] std::string output() const { return m_output.content(); }
  [[nodiscard]] std::string errors() const { return m_errors.content(); }
  // Prints it, or why the compiler could not be started.
  void show_output() const;

 private:
  std::string m_program;
  // One file for both where both go to one place: lines stay in order. Then m_output is not open.
  sys::MemoryFile m_output, m_errors;
  std::unique_ptr<sys::ForegroundProcess> m_process;
};

}  // namespace wheelsmith::governor
