#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sys/io/memory_file.h"
#include "sys/process/foreground.h"

// The real compiler, as a shim runs it. Only src/governor includes this.

namespace wheelsmith::governor {

// Its output is kept until it has ended, so that a first try leaves no trace; on a terminal it is passed through.
class ShimChild {
 public:
  // Throws Error when there cannot be another process.
  // `keep`: also on a terminal.
  ShimChild(const std::string& program, const std::vector<std::string>& argv,
            const std::vector<std::string>& environment, bool keep);

  // What to watch, from the call that gives it on; null: nothing.
  using Watch = std::function<const sys::Fd*()>;
  // Waits to its end. `on_readable` is called when there is something to read from `news`, and `on_tick` ten times a
  // second while that is not open; both give the one to watch from then on.
  sys::ForegroundExit wait(const sys::Fd* news, const Watch& on_readable, const Watch& on_tick);
  // What it wrote, as far as it was kept. Where both go to one place, all is among the errors.
  [[nodiscard]] std::string output() const { return m_output.content(); }
  [[nodiscard]] std::string errors() const { return m_errors.content(); }
  // Hands it on, or says why it could not be started.
  void show_output() const;

 private:
  std::string m_program;
  // One for both where both go to one place: lines stay in their order. Then m_output is not open.
  sys::MemoryFile m_output, m_errors;
  std::unique_ptr<sys::ForegroundProcess> m_process;
};

}  // namespace wheelsmith::governor
