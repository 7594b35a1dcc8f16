// Each thread has an epoll of its own with the listening socket in it and the connections that it accepted; nothing is
// shared between them but the responder, so that a slow client keeps nobody waiting and a connection needs no lock.
// No name is ever resolved: the program is static, and addresses are numbers.

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"
#include "index/connection_linux.h"
#include "index/server.h"

namespace wheelsmith::index {

namespace {

using Clock = Connection::Clock;

union Address {
  sockaddr any;
  sockaddr_in four;
  sockaddr_in6 six;
};

[[noreturn]] void fail(std::string_view what, std::string_view address) {
  throw Error(fmt::format("cannot {} {}: {}", what, printable(address), std::strerror(errno)));
}

Address parse_address(std::string_view text, socklen_t& size) {
  Address address{};
  const std::size_t colon = text.rfind(':');
  std::string host(colon == std::string_view::npos ? "127.0.0.1" : text.substr(0, colon));
  const auto port = to_number(colon == std::string_view::npos ? text : text.substr(colon + 1));
  if (host == "localhost" || host.empty()) host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const bool six = host.find(':') != std::string::npos;
  if (!port || *port > 65535 ||
      ::inet_pton(six ? AF_INET6 : AF_INET, host.c_str(),
                  six ? static_cast<void*>(&address.six.sin6_addr) : static_cast<void*>(&address.four.sin_addr)) != 1)
    throw Error(fmt::format("{} is no numeric address with a port, like 127.0.0.1:8080, 0.0.0.0:80 or [::1]:0",
                            printable(text)));
  const in_port_t network_port = htons(static_cast<std::uint16_t>(*port));
  address.any.sa_family = six ? AF_INET6 : AF_INET;
  (six ? address.six.sin6_port : address.four.sin_port) = network_port;
  size = six ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  return address;
}

std::string host_of(const Address& address) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (address.any.sa_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &address.six.sin6_addr, text, sizeof text);
    return fmt::format("[{}]", text);
  }
  ::inet_ntop(AF_INET, &address.four.sin_addr, text, sizeof text);
  return text;
}

std::uint16_t port_of(const Address& address) {
  return ntohs(address.any.sa_family == AF_INET6 ? address.six.sin6_port : address.four.sin_port);
}

}  // namespace

struct Server::Shared {
  Shared(const Responder& answers, const ServerLimits& some_limits, AccessLog a_log)
      : responder(answers), limits(some_limits), log(std::move(a_log)) {}
  ~Shared() {
    if (listener >= 0) ::close(listener);
    if (wake >= 0) ::close(wake);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  const Responder& responder;
  ServerLimits limits;
  AccessLog log;
  int listener = -1;
  int wake = -1;
  std::atomic<unsigned> connections{0};
  std::atomic<bool> stopping{false};
};

class Server::Worker {
 public:
  explicit Worker(Shared& shared) : m_shared(shared), m_epoll(::epoll_create1(EPOLL_CLOEXEC)) {
    if (m_epoll < 0) throw Error(std::string("cannot make an epoll: ") + std::strerror(errno));
    watch(m_shared.listener, EPOLLIN | EPOLLEXCLUSIVE, EPOLL_CTL_ADD);
    watch(m_shared.wake, EPOLLIN, EPOLL_CTL_ADD);
  }
  ~Worker() {
    m_shared.connections -= static_cast<unsigned>(m_connections.size());
    m_connections.clear();
    ::close(m_epoll);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void run() {
    std::array<epoll_event, 64> events{};
    auto next_sweep = Clock::now();
    for (;;) {
      const int count = ::epoll_wait(m_epoll, events.data(), static_cast<int>(events.size()), 500);
      for (int i = 0; i < count; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == m_shared.listener) {
          accept();
        } else if (fd != m_shared.wake) {
          proceed(fd);
        }
      }
      const auto now = Clock::now();
      if (m_shared.stopping && !m_ending) {
        m_ending = now + m_shared.limits.grace;
        ::epoll_ctl(m_epoll, EPOLL_CTL_DEL, m_shared.listener, nullptr);
        ::epoll_ctl(m_epoll, EPOLL_CTL_DEL, m_shared.wake, nullptr);
        std::erase_if(m_connections, [&](auto& item) { return drop_if(item.second->finish()); });
      }
      if (m_ending && (m_connections.empty() || now >= *m_ending)) return;
      if (now < next_sweep) continue;
      next_sweep = now + std::chrono::milliseconds(500);
      std::erase_if(m_connections, [&](auto& item) { return drop_if(item.second->is_late(now)); });
    }
  }

 private:
  bool drop_if(bool drop) {
    if (drop) --m_shared.connections;
    return drop;
  }

  void watch(int fd, std::uint32_t events, int operation) const {
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    ::epoll_ctl(m_epoll, operation, fd, &event);
  }

  void accept() {
    // A few at a time: the other threads want some, too.
    for (int i = 0; i < 8; ++i) {
      Address peer{};
      socklen_t size = sizeof peer;
      const int fd = ::accept4(m_shared.listener, &peer.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) {
        // Out of descriptors: the client stays in the queue until one is free.
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return;
      }
      if (++m_shared.connections > m_shared.limits.connections) {
        const Response busy = plain_response(503, "too many connections");
        const std::string text = busy.head(false) + *busy.text;
        [[maybe_unused]] const auto sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        ::close(fd);
        --m_shared.connections;
        continue;
      }
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      m_connections[fd] = std::make_unique<Connection>(fd, m_shared.log ? host_of(peer) : "", m_shared.responder,
                                                       m_shared.limits, m_shared.log);
      watch(fd, EPOLLIN, EPOLL_CTL_ADD);
      m_waiting_to_write[fd] = false;
      proceed(fd);
    }
  }

  void proceed(int fd) {
    const auto found = m_connections.find(fd);
    if (found == m_connections.end()) return;
    Connection::Next next = Connection::Next::close;
    try {
      next = found->second->proceed();
    } catch (const std::exception&) {  // no memory for this one: the others go on
    }
    if (next == Connection::Next::close) {
      m_connections.erase(found);
      m_waiting_to_write.erase(fd);
      --m_shared.connections;
      return;
    }
    bool& writing = m_waiting_to_write[fd];
    const bool write = next == Connection::Next::write;
    if (write != writing) watch(fd, write ? EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
    writing = write;
  }

  Shared& m_shared;
  int m_epoll;
  std::optional<Clock::time_point> m_ending;
  std::unordered_map<int, std::unique_ptr<Connection>> m_connections;
  std::unordered_map<int, bool> m_waiting_to_write;
};

Server::Server(std::string_view address, const Responder& responder, const ServerLimits& limits, AccessLog log)
    : m_shared(std::make_unique<Shared>(responder, limits, std::move(log))) {
  socklen_t size = 0;
  Address place = parse_address(address, size);
  m_shared->listener = ::socket(place.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (m_shared->listener < 0) fail("open a socket for", address);
  const int on = 1;
  ::setsockopt(m_shared->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(m_shared->listener, &place.any, size) != 0 || ::listen(m_shared->listener, 1024) != 0 ||
      ::getsockname(m_shared->listener, &place.any, &size) != 0)
    fail("listen at", address);
  m_shared->wake = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (m_shared->wake < 0) fail("make an event for", address);
  m_url = fmt::format("http://{}:{}/", host_of(place), port_of(place));
}

Server::~Server() = default;

void Server::run(const std::function<bool()>& stop) {
  // Signals are for this thread, which waits for them.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, m_shared->limits.threads); ++i)
    threads.emplace_back([this] { Worker(*m_shared).run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  while (!stop()) {
    ::usleep(200'000);  // a signal ends it early
    m_shared->responder.tick();
  }
  m_shared->stopping = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(m_shared->wake, &one, sizeof one);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace wheelsmith::index
