#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <thread>

#include "base/error.h"
#include "base/text.h"
#include "run/cache_relay.h"
#include "sys/process/process.h"

// A step that may not reach the network runs in a network namespace of its own, which has nothing but a loopback
// device. Its compile cache may have a server elsewhere. A socket with a name in the file system is the same in every
// namespace, so two ends of ours make a way to that one server and to nothing else: inside, a process that the step's
// command is started by listens on loopback; outside, the step's process listens on the socket and connects to the
// server.

namespace wheelsmith::run {

namespace {

// The namespace is new with each command: nobody else can have it.
constexpr std::uint16_t k_port = 41'977;
constexpr int k_connect_seconds = 5;

struct Address {
  std::string scheme, login, host, port, rest;
};

Address parse_address(const std::string& url) {
  Address address;
  const std::size_t colon = url.find("://");
  if (colon == url.npos) return address;
  address.scheme = url.substr(0, colon);
  const std::size_t begin = colon + 3;
  const std::size_t end = std::min(url.find_first_of("/?", begin), url.size());
  std::string authority = url.substr(begin, end - begin);
  address.rest = url.substr(end);
  if (const std::size_t at = authority.rfind('@'); at != authority.npos) {
    address.login = authority.substr(0, at + 1);
    authority.erase(0, at + 1);
  }
  const std::size_t port = authority.rfind(':');
  if (port != authority.npos && authority.find(']', port) == authority.npos) {
    address.port = authority.substr(port + 1);
    authority.resize(port);
  }
  if (authority.starts_with('[') && authority.ends_with(']')) authority = authority.substr(1, authority.size() - 2);
  address.host = authority;
  if (address.port.empty()) address.port = address.scheme == "redis" ? "6379" : "80";
  return address;
}

int connect_to_server(const Address& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found) != 0) return -1;
  int fd = -1;
  for (const addrinfo* one = found; one != nullptr && fd < 0; one = one->ai_next) {
    fd = ::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
    const timeval patience{k_connect_seconds, 0};
    if (fd >= 0) ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);  // connect() heeds it
    if (fd >= 0 && ::connect(fd, one->ai_addr, one->ai_addrlen) != 0) {
      ::close(fd);
      fd = -1;
    }
  }
  ::freeaddrinfo(found);
  return fd;
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw Error("the path of a socket is too long: " + printable(path));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

bool pass_on(int from, int to) {
  std::array<char, 65536> buffer{};
  const ssize_t got = ::read(from, buffer.data(), buffer.size());
  if (got <= 0) return false;
  std::string_view text(buffer.data(), static_cast<std::size_t>(got));
  while (!text.empty()) {
    const ssize_t sent = ::send(to, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// Both ways, until both have ended.
void pump(int a, int b) {
  std::array<pollfd, 2> fds{{{a, POLLIN, 0}, {b, POLLIN, 0}}};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) break;
    for (std::size_t i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      const int other = i == 0 ? b : a;
      if (pass_on(i == 0 ? a : b, other)) continue;
      ::shutdown(other, SHUT_WR);
      fds[i].fd = -1;
    }
  }
  ::close(a);
  ::close(b);
}

// Until the listening socket is shut down.
void serve(int listening, const std::function<int()>& connect) {
  for (;;) {
    const int near = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
    if (near < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (near < 0) return;
    std::thread([near, connect] {
      const int far = connect();
      if (far < 0) {
        ::close(near);
      } else {
        pump(near, far);
      }
    }).detach();
  }
}

}  // namespace

struct CacheRelay::State {
  sys::TempDir folder;
  Address address;
  int listening = -1;
  std::thread thread;
  [[nodiscard]] std::string socket() const { return (folder.path() / "cache").string(); }
};

bool CacheRelay::is_needed(const std::string& remote) {
  return remote.starts_with("http://") || remote.starts_with("redis://");
}

CacheRelay::CacheRelay(const std::string& remote) : m_state(std::make_unique<State>()) {
  State& state = *m_state;
  state.address = parse_address(remote);
  const sockaddr_un address = unix_address(state.socket());
  state.listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (state.listening < 0 ||
      ::bind(state.listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(state.listening, 256) != 0) {
    const int error = errno;
    if (state.listening >= 0) ::close(state.listening);
    throw Error(std::string("cannot listen for the compile cache: ") + std::strerror(error));
  }
  state.thread = std::thread([listening = state.listening, server = state.address] {
    serve(listening, [server] { return connect_to_server(server); });
  });
}

CacheRelay::~CacheRelay() {
  ::shutdown(m_state->listening, SHUT_RDWR);
  m_state->thread.join();
  ::close(m_state->listening);
}

std::string CacheRelay::inner_remote() const {
  const Address& address = m_state->address;
  return fmt::format("{}://{}127.0.0.1:{}{}", address.scheme, address.login, k_port, address.rest);
}

const std::filesystem::path& CacheRelay::folder() const { return m_state->folder.path(); }

std::vector<std::string> CacheRelay::wrapped(const std::vector<std::string>& argv) const {
  std::vector<std::string> words{sys::own_executable().string(), "relay", "--socket", m_state->socket(), "--"};
  words.insert(words.end(), argv.begin(), argv.end());
  return words;
}

int run_relay(const std::string& socket, const std::vector<std::string>& argv) {
  const sockaddr_un outside = unix_address(socket);
  sockaddr_in inside{};
  inside.sin_family = AF_INET;
  inside.sin_port = htons(k_port);
  inside.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // Without it the cache does without its server; the build goes on.
  const bool listens = listening >= 0 &&
                       ::bind(listening, reinterpret_cast<const sockaddr*>(&inside), sizeof inside) == 0 &&
                       ::listen(listening, 256) == 0;
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw Error(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::execvp(words.front(), words.data());
    std::fprintf(stderr, "wheelsmith: error: cannot start %s: %s\n", printable(argv.front()).c_str(),
                 std::strerror(errno));
    ::_exit(errno == ENOENT ? 127 : 126);
  }
  if (listens) {
    std::thread([listening, outside] {
      serve(listening, [outside] {
        const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&outside), sizeof outside) == 0) return fd;
        if (fd >= 0) ::close(fd);
        return -1;
      });
    }).detach();
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (!WIFSIGNALED(status)) ::_exit(WEXITSTATUS(status));
  ::signal(WTERMSIG(status), SIG_DFL);
  ::raise(WTERMSIG(status));
  ::_exit(128 + WTERMSIG(status));
}

}  // namespace wheelsmith::run
