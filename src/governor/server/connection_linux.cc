#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "governor/server/connection.h"
#include "sys/file.h"

namespace wheelsmith::governor {

namespace {

// Whoever could put a socket there would see every command line, and could hold our builds up.
void check_folder(const std::filesystem::path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) sys::throw_sys_error(errno, "make", folder);
  struct stat status{};
  if (::lstat(folder.c_str(), &status) != 0) sys::throw_sys_error(errno, "look at", folder);
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0) {
    throw Error(printable(folder.string()) + " is not a folder of ours alone; the governor cannot meet anybody there");
  }
}

int new_socket() { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }

// Nobody waits for it, and nothing of what called us is held open by it: a build system that reads its compilers'
// output to the end would wait for the governor otherwise.
void start_detached(const std::filesystem::path& program, const std::filesystem::path& runtime) {
  std::string path = program.string();
  std::string folder = runtime.string();
  std::array<char*, 5> argv{};
  std::array<std::string, 4> words{"wheelsmith", "governor", "--runtime", folder};
  for (std::size_t i = 0; i < words.size(); ++i) argv[i] = words[i].data();
  std::array<const char*, 2> envp{"LC_ALL=C", nullptr};
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    [[maybe_unused]] const int moved = ::chdir("/");
    const int null = ::open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
    for (int fd = 3; fd < 1024; ++fd) ::close(fd);
    ::execve(path.c_str(), argv.data(), const_cast<char**>(envp.data()));
    ::_exit(127);
  }
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
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
    try {
      check_folder(folder);
      // A socket's path has 107 bytes.
      if (socket_path(folder).string().size() < 100) return folder;
    } catch (const Error&) {  // it may be there in name only, as in containers
    }
  }
  const std::filesystem::path folder = "/tmp/wheelsmith-" + std::to_string(::geteuid());
  check_folder(folder);
  return folder;
}

std::filesystem::path lock_path(const std::filesystem::path& runtime) { return runtime / "governor.lock"; }
std::filesystem::path socket_path(const std::filesystem::path& runtime) { return runtime / "governor.sock"; }

Connection::Connection(Connection&& other) noexcept
    : m_fd(std::exchange(other.m_fd, -1)), m_buffer(std::move(other.m_buffer)) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  if (this != &other) {
    close();
    m_fd = std::exchange(other.m_fd, -1);
    m_buffer = std::move(other.m_buffer);
  }
  return *this;
}

void Connection::close() {
  if (m_fd >= 0) ::close(m_fd);
  m_fd = -1;
  m_buffer.clear();
}

bool Connection::send(const Message& message) {
  const std::string line = to_line(message);
  std::string_view left = line;
  while (m_fd >= 0 && !left.empty()) {
    const ssize_t sent = ::send(m_fd, left.data(), left.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      left.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EINTR) {
      close();
    }
  }
  return m_fd >= 0;
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
    if (m_fd < 0 || m_buffer.size() > k_longest_line) return Got::end;
    pollfd waiting{m_fd, POLLIN, 0};
    const double left = until - now();
    const int ready = ::poll(&waiting, 1, left <= 0 ? 0 : static_cast<int>(left * 1000) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Got::nothing;
    std::array<char, 4096> piece;
    const ssize_t got = ::recv(m_fd, piece.data(), piece.size(), MSG_DONTWAIT);
    if (got > 0) {
      m_buffer.append(piece.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      close();
      return Got::end;
    }
  }
}

Connection connect_to(const std::filesystem::path& runtime) {
  const std::string path = socket_path(runtime).string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return {};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  Connection connection(new_socket());
  if (!connection.is_open()) return {};
  // One that does not accept any more (stopped, hung) is as good as none.
  const timeval patience{5, 0};
  ::setsockopt(connection.fd(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  while (::connect(connection.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno != EINTR) return {};
  }
  // What is listening there must be ours.
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(connection.fd(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != ::geteuid()) return {};
  return connection;
}

Connection connect_or_start(const RunFile& run, double seconds) {
  const double until = now() + seconds;
  double start_at = 0;
  for (useconds_t pause = 1000;; pause = std::min<useconds_t>(pause * 2, 50'000)) {
    Connection connection = connect_to(run.runtime);
    if (connection.is_open() || now() > until) return connection;
    if (now() >= start_at) {
      start_detached(run.program, run.runtime);
      start_at = now() + 1;
    }
    ::usleep(pause);
  }
}

}  // namespace wheelsmith::governor
