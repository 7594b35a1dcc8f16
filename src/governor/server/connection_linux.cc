#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "governor/server/connection.h"
#include "sys/file.h"
#include "sys/io/wait.h"
#include "sys/process/foreground.h"

namespace wheelsmith::governor {

namespace {

constexpr int k_connect_seconds = 5;

// Creates the folder; "" or why it cannot be used. A user who could place a socket there would see every command line,
// and could block our builds.
std::string make_own_folder(const std::filesystem::path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return sys::sys_error_text(errno, "make", folder);
  struct stat status{};
  if (::lstat(folder.c_str(), &status) != 0) return sys::sys_error_text(errno, "stat", folder);
  if (S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() && (status.st_mode & 077) == 0) return "";
  return printable(folder.string()) + " must be a folder that only you can access; the governor cannot use it";
}

}  // namespace

double now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::filesystem::path runtime_folder() {
  const char* given = std::getenv("XDG_RUNTIME_DIR");  // NOLINT(concurrency-mt-unsafe)
  if (given != nullptr && *given == '/') {
    const std::filesystem::path folder = std::filesystem::path(given) / "wheelsmith";
    // It may be set but missing, as in containers. A socket path has at most 107 bytes.
    if (socket_path(folder).string().size() < 100 && make_own_folder(folder).empty() &&
        make_own_folder(socket_path(folder).parent_path()).empty())
      return folder;
  }
  const std::filesystem::path folder = "/tmp/wheelsmith-" + std::to_string(::geteuid());
  for (const std::filesystem::path& each : {folder, socket_path(folder).parent_path()}) {
    if (const std::string problem = make_own_folder(each); !problem.empty()) throw Error(problem);
  }
  return folder;
}

std::filesystem::path lock_path(const std::filesystem::path& runtime) { return runtime / "meet.lock"; }
// In a separate folder: sandboxed builds see it and nothing else of the runtime folder, and a later governor's socket
// appears there, too.
std::filesystem::path socket_path(const std::filesystem::path& runtime) { return runtime / "meet" / "governor.sock"; }

void Connection::close() {
  m_socket.close();
  m_buffer.clear();
}

bool Connection::send(const Message& message) {
  if (!m_socket.send_all(to_line(message))) close();
  return is_open();
}

Connection::Got Connection::receive(Message& message, int milliseconds) {
  const double until = now() + milliseconds / 1000.0;
  for (;;) {
    if (const std::size_t end = m_buffer.find('\n'); end != m_buffer.npos) {
      const auto parsed = parse_message(std::string_view(m_buffer).substr(0, end));
      m_buffer.erase(0, end + 1);
      if (!parsed) continue;
      message = *parsed;
      return Got::message;
    }
    if (!is_open() || m_buffer.size() > k_longest_line) return Got::end;
    std::array<sys::Waiting, 1> waiting{{{&m_socket.fd()}}};
    const double left = until - now();
    const sys::Waited waited = sys::wait_readable(waiting, left <= 0 ? 0 : static_cast<int>(left * 1000) + 1);
    if (waited == sys::Waited::interrupted) continue;
    if (waited == sys::Waited::timeout) return Got::nothing;
    std::array<char, 4096> piece;
    const sys::Moved got = m_socket.receive_now(piece);
    if (got.state == sys::Moved::State::moved) {
      m_buffer.append(piece.data(), got.size);
    } else if (got.state == sys::Moved::State::ended) {
      close();
      return Got::end;
    }
  }
}

Connection connect_to(const std::filesystem::path& runtime) {
  // A process that no longer accepts connections (stopped, hung) counts as absent.
  sys::Socket socket = sys::connect_local(socket_path(runtime), k_connect_seconds);
  if (!socket.is_open()) return {};
  // The listener must run as this user.
  const auto peer = socket.peer();
  if (!peer || peer->uid != ::geteuid()) return {};
  return Connection(std::move(socket));
}

Connection connect_or_start(const RunFile& run, double seconds) {
  const double until = now() + seconds;
  double start_at = 0;
  for (useconds_t pause = 1000;; pause = std::min<useconds_t>(pause * 2, 50'000)) {
    Connection connection = connect_to(run.runtime);
    if (connection.is_open() || now() > until) return connection;
    if (!run.program.empty() && now() >= start_at) {
      sys::start_detached(run.program, {"wheelsmith", "governor", "--runtime", run.runtime.string()}, {"LC_ALL=C"});
      start_at = now() + 1;
    }
    ::usleep(pause);
  }
}

}  // namespace wheelsmith::governor
