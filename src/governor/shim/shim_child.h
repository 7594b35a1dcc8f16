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
  ShimChild(const std::string& program, const std::vector<std::string>& argv,
            const std::vector<std::string>& environment);

  // What to watch, from the call that gives it on; null: nothing.
  using Watch = std::function<const sys::Fd*()>;
  // Waits to its end. `on_readable` is called when there is something to read from `news`, and `on_tick` ten times a
  // second while that is not open; both give the one to watch from then on. `on_asked` is the same for `asker`, the
  // socket to what it started; while there is one, `on_tick` is called every second as well.
  sys::ForegroundExit wait(const sys::Fd* news, const Watch& on_readable, const Watch& on_tick,
                           const sys::Fd* asker = nullptr, const Watch& on_asked = {});
  // What it wrote, as far as it was kept.
  [[nodiscard]] std::string output() const;
  // Hands it on, or says why it could not be started.
  void show_output() const;

 private:
  std::string m_program;
  // One for both where both go to one place: lines stay in their order. Then m_output is not open.
  sys::MemoryFile m_output, m_errors;
  std::unique_ptr<sys::ForegroundProcess> m_process;
};

}  // namespace wheelsmith::governor
