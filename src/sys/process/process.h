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

// Processes: how every program that is not ours is started, watched and ended. No shell is ever involved.

namespace wheelsmith::sys {

using Environment = std::map<std::string, std::string>;

// Our own environment.
Environment current_environment();

// Every member has a default, so that {.argv = {"git"}, .folder = place} is no warning.
struct Command {
  std::vector<std::string> argv{};           // argv[0] without '/' is looked up in PATH of `environment`
  std::optional<Environment> environment{};  // nothing: our own
  std::filesystem::path folder{};            // working directory; empty: ours
  std::string input{};                       // what it reads from standard input; empty: /dev/null
  std::filesystem::path input_file{};        // or the file that it reads
  std::optional<std::chrono::milliseconds> timeout{};
  // In a network namespace of its own (and a user namespace, unless we are root) that has only a loopback device. Where
  // the kernel forbids it, start() throws; can_isolate_network() tells beforehand.
  bool no_network = false;
};

struct Exit {
  int code = 0;    // as a shell counts: 128 + signal for one that was killed
  int signal = 0;  // what killed it, or 0
  bool timed_out = false;
  bool stopped = false;  // because `stop` said so, or for an interruption
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

// Runs to the end and keeps what it wrote. For short helpers. Throws Error when it cannot be started. An interruption
// (interrupted()) ends it early.
Captured capture(const Command& command, std::uint64_t limit = 64ull << 20);

// A running program with its whole tree of descendants: in a process group of its own, killed when we die (parent-death
// signal), standard output and standard error in one stream. Move-only; the destructor kills what still runs.
class Process {
 public:
  explicit Process(const Command& command);
  ~Process();
  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;

  [[nodiscard]] int pid() const;
  // The read end of its output, to wait for; not open when it has been closed.
  [[nodiscard]] const Fd& output() const;
  // What it wrote since the last call, "" when there is nothing now; nothing at the end of the stream.
  std::optional<std::string> read();
  // Whether it has ended; does not wait. A child that ended while descendants hold the pipe open counts as ended.
  [[nodiscard]] std::optional<Exit> poll();
  // Waits to the end, handing on the output as it comes. Ends early (interrupting the tree, then killing it after
  // `grace`) when the command's timeout has passed or `stop` says so.
  Exit wait(const std::function<void(std::string_view)>& on_output, const std::function<bool()>& stop = {},
            std::chrono::milliseconds grace = std::chrono::seconds(5));
  // Signals the whole group and all descendants that we know of.
  void kill(int signal);

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

// Makes us the one that orphans below us are handed to, so that none escapes; and, where `die_with_parent`, has the
// kernel send us SIGTERM when our parent ends: it ends us, or sets the flag of install_interrupt_flag(), so that we can
// end our own descendants first. For the main thread.
void become_subreaper(bool die_with_parent);
// Kills every descendant of ours that is left, orphans too (of a subreaper), and reaps them. Nobody may start a process
// meanwhile.
void kill_descendants();

bool can_isolate_network();

// Where a program is, as execvp would find it in that PATH; "" when it is not there or not executable.
std::filesystem::path find_program(std::string_view name, std::string_view path);
std::filesystem::path find_program(std::string_view name);  // in our own PATH
// Our own executable.
std::filesystem::path own_executable();
// The words that we were started with, our own name first.
std::vector<std::string> own_arguments();

// The word as a POSIX shell reads it back unchanged.
std::string shell_quoted(std::string_view word);
std::string shell_quoted(const std::vector<std::string>& argv);

// Interrupts: after install, SIGINT, SIGTERM and SIGHUP set a flag (and wake poll() with EINTR) instead of ending us; a
// second SIGINT ends us at once.
void install_interrupt_flag();
bool interrupted();

}  // namespace wheelsmith::sys
