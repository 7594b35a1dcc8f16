#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sys/io/fd.h"

// Processes: how external programs are started, watched and stopped. No shell is ever involved.

namespace wheelsmith::sys {

using Environment = std::map<std::string, std::string>;

// Our own environment.
Environment current_environment();

// Every member has a default, so that {.argv = {"git"}, .folder = place} does not warn.
struct Command {
  std::vector<std::string> argv{};           // argv[0] without '/' is looked up in PATH of `environment`
  std::optional<Environment> environment{};  // nothing: our own
  std::filesystem::path folder{};            // working directory; empty: ours
  std::string input{};                       // its standard input; empty: /dev/null
  std::filesystem::path input_file{};        // or a file as standard input
  std::optional<std::chrono::milliseconds> timeout{};
  // In its own network namespace (and a user namespace, unless we are root) with only a loopback device. Where the
  // kernel forbids it, start() throws; can_isolate_network() tells beforehand.
  bool no_network = false;
};

struct Exit {
  int code = 0;    // as in a shell: 128 + signal for a killed process
  int signal = 0;  // the signal that killed it, or 0
  bool timed_out = false;
  bool stopped = false;  // by `stop` or an interrupt
  std::chrono::duration<double> seconds{0};

  [[nodiscard]] bool good() const { return code == 0 && !timed_out && !stopped; }
};

// "exit status 2", "killed by signal 9 (Killed)", "stopped after 300 s (timeout)".
std::string to_string(const Exit& exit);

struct Captured {
  Exit exit;
  std::string output;  // standard output, at most `limit` bytes of it
  std::string errors;  // standard error
};

// Runs a short helper to its end and returns its output. Throws Error when it cannot be started. An interrupt
// (interrupted()) stops it early.
Captured capture(const Command& command, std::uint64_t limit = 64ull << 20);

// A running program with all its descendants: in its own process group, killed when we die (parent-death signal),
// standard output and standard error in one stream. Move-only; the destructor kills whatever still runs.
class Process {
 public:
  explicit Process(const Command& command);
  ~Process();
  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;

  [[nodiscard]] int pid() const;
  // The read end of its output, to wait for; not open once closed.
  [[nodiscard]] const Fd& output() const;
  // Output since the last call, "" when there is none now; nothing at the end of the stream.
  std::optional<std::string> read();
  // Whether it has exited; does not wait. A child that exited while descendants hold the pipe open counts as exited.
  [[nodiscard]] std::optional<Exit> poll();
  // Waits for the exit, passing on the output as it arrives. Stops early (interrupts the tree, then kills it after
  // `grace`) when the command's timeout has passed or `stop` returns true.
  Exit wait(const std::function<void(std::string_view)>& on_output, const std::function<bool()>& stop = {},
            std::chrono::milliseconds grace = std::chrono::seconds(5));
  // Signals the whole group and all known descendants.
  void kill(int signal);

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

// Makes this process the subreaper of its descendants, so that no orphan escapes; and, with `die_with_parent`, has the
// kernel send SIGTERM when our parent exits: it ends this process, or sets the flag of install_interrupt_flag(), so
// that we can stop our own descendants first. For the main thread.
void become_subreaper(bool die_with_parent);
// Kills and reaps every remaining descendant, including orphans (of a subreaper). No process may be started meanwhile.
void kill_descendants();

bool can_isolate_network();

// Path of a program, as execvp would find it in that PATH; "" when it is missing or not executable.
std::filesystem::path find_program(std::string_view name, std::string_view path);
std::filesystem::path find_program(std::string_view name);  // in our own PATH
// Our own executable.
std::filesystem::path own_executable();
// The arguments of this process, its own name first.
std::vector<std::string> own_arguments();

// Quotes an argument so that a POSIX shell reads it back unchanged.
std::string shell_quoted(std::string_view word);
std::string shell_quoted(const std::vector<std::string>& argv);

// Interrupts: after install, SIGINT, SIGTERM and SIGHUP set a flag (and wake poll() with EINTR) instead of ending the
// process; a second SIGINT ends it at once.
void install_interrupt_flag();
bool interrupted();

}  // namespace wheelsmith::sys
