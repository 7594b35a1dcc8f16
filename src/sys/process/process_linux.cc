#include <fmt/format.h>

#include <cstring>

#include "sys/process/child_linux.h"
#include "sys/process/process.h"

namespace wheelsmith::sys {

std::string to_string(const Exit& exit) {
  if (exit.timed_out) return fmt::format("stopped after {:.0f} s (timeout)", exit.seconds.count());
  if (exit.stopped) return fmt::format("stopped after {:.0f} s", exit.seconds.count());
  if (exit.signal != 0) {
    const char* name = ::sigdescr_np(exit.signal);
    return fmt::format("killed by signal {} ({})", exit.signal, name != nullptr ? name : "unknown");
  }
  return fmt::format("exit status {}", exit.code);
}

Captured capture(const Command& command, std::uint64_t limit) {
  Captured captured;
  const auto keep = [limit](std::string& text) {
    // Output beyond the limit is read and dropped: a program whose pipe is full would wait forever.
    return [&text, limit](std::string_view piece) {
      text.append(
          piece.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), limit - text.size()))));
    };
  };
  Child child(command, ErrorStream::separate);
  captured.exit = child.wait(keep(captured.output), keep(captured.errors), interrupted, std::chrono::seconds(2));
  return captured;
}

struct Process::State {
  explicit State(const Command& command) : child(command, ErrorStream::joined) {}
  Child child;
};

Process::Process(const Command& command) : m_state(std::make_unique<State>(command)) {}
Process::~Process() = default;
Process::Process(Process&&) noexcept = default;
Process& Process::operator=(Process&&) noexcept = default;

int Process::pid() const { return m_state->child.pid(); }
const Fd& Process::output() const { return m_state->child.output(); }
std::optional<std::string> Process::read() { return m_state->child.read(); }
std::optional<Exit> Process::poll() { return m_state->child.poll(); }
void Process::kill(int signal) { m_state->child.signal_tree(signal); }

Exit Process::wait(const std::function<void(std::string_view)>& on_output, const std::function<bool()>& stop,
                   std::chrono::milliseconds grace) {
  return m_state->child.wait(on_output, {}, stop, grace);
}

}  // namespace wheelsmith::sys
