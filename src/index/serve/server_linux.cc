// Each thread has its own epoll with the listening socket and the connections that it accepted; the threads share only
// the answerer, so a slow client blocks no other and a connection needs no lock. No name is ever resolved: the program
// is static, and addresses are numeric.

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <thread>
#include <unordered_map>

#include "index/serve/connection_linux.h"
#include "index/serve/server.h"
#include "sys/io/event_queue.h"
#include "sys/io/socket.h"

namespace wheelsmith::index {

namespace {

using Clock = Connection::Clock;

// If all connections are in use, idle ones are closed, except new ones and those still receiving a response.
constexpr auto k_least_idle = std::chrono::seconds(1);
constexpr auto k_stalled = std::chrono::seconds(10);
// Idle ones may belong to another thread, which closes them within half a second.
constexpr unsigned k_overdraft = 2;

// Tokens of a worker's own descriptors; those of connections follow.
constexpr std::uint64_t k_listener = 0, k_wake = 1, k_first_connection = 2;

}  // namespace

struct Server::Shared {
  Shared(std::string_view address, const Answerer& answers, const ServerLimits& some_limits, AccessLog a_log)
      : listener(address), answerer(answers), limits(some_limits), log(std::move(a_log)) {}

  sys::TcpListener listener;
  sys::WakeUp wake;
  const Answerer& answerer;
  ServerLimits limits;
  AccessLog log;
  std::atomic<unsigned> connections{0};
  std::atomic<bool> stopping{false};
};

class Server::Worker {
 public:
  explicit Worker(Shared& shared) : m_shared(shared) {
    m_queue.add_shared(m_shared.listener.fd(), k_listener);
    m_queue.add(m_shared.wake.fd(), sys::EventQueue::Interest::read, k_wake);
  }
  ~Worker() { m_shared.connections -= static_cast<unsigned>(m_clients.size()); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void run() {
    std::array<std::uint64_t, 64> tokens{};
    auto next_sweep = Clock::now();
    for (;;) {
      const std::size_t count = m_queue.wait(tokens, 500);
      for (std::size_t i = 0; i < count; ++i) {
        if (tokens[i] == k_listener) {
          accept();
        } else if (tokens[i] != k_wake) {
          proceed(tokens[i]);
        }
      }
      const auto now = Clock::now();
      if (m_shared.stopping && !m_ending) {
        m_ending = now + m_shared.limits.grace;
        m_queue.remove(m_shared.listener.fd());
        m_queue.remove(m_shared.wake.fd());
        drop_those([](Connection& connection) { return connection.finish(); });
      }
      if (m_ending && (m_clients.empty() || now >= *m_ending)) return;
      if (now < next_sweep) continue;
      next_sweep = now + std::chrono::milliseconds(500);
      while (m_shared.connections > m_shared.limits.connections) {
        const std::size_t before = m_clients.size();
        drop_longest_idle(k_least_idle);
        if (m_clients.size() == before) break;
      }
      drop_those([now](const Connection& connection) { return connection.is_late(now); });
    }
  }

 private:
  struct Client {
    Connection connection;
    bool writing = false;  // watched for writability
  };

  template <class Which>
  void drop_those(Which which) {
    for (auto client = m_clients.begin(); client != m_clients.end();) {
      const bool drop = which(client->second.connection);
      if (drop) --m_shared.connections;
      client = drop ? m_clients.erase(client) : std::next(client);
    }
  }

  // At most one of this thread's own.
  void drop_longest_idle(Clock::duration at_least) {
    const auto now = Clock::now();
    auto victim = m_clients.end();
    for (auto client = m_clients.begin(); client != m_clients.end(); ++client) {
      const Connection& connection = client->second.connection;
      if (now - connection.idle_since() < (connection.is_answering() ? k_stalled : at_least)) continue;
      if (victim == m_clients.end() || connection.idle_since() < victim->second.connection.idle_since())
        victim = client;
    }
    if (victim == m_clients.end()) return;
    m_clients.erase(victim);
    --m_shared.connections;
  }

  void accept() {
    // A few at a time, to leave some for the other threads.
    for (int i = 0; i < 8; ++i) {
      sys::TcpListener::Accepted accepted = m_shared.listener.accept();
      if (!accepted.socket.is_open()) {
        // The client stays in the queue until a descriptor is free.
        if (accepted.out_of_handles) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return;
      }
      const unsigned now_open = ++m_shared.connections;
      if (now_open > m_shared.limits.connections) drop_longest_idle(std::chrono::seconds(0));
      if (now_open > m_shared.limits.connections * k_overdraft && m_shared.connections >= now_open) {
        const Response busy = plain_response(503, "too many connections");
        accepted.socket.send_now(busy.head(false) + *busy.text);
        --m_shared.connections;
        continue;
      }
      accepted.socket.set_no_delay();
      const std::uint64_t token = m_next_token++;
      Connection connection(std::move(accepted.socket), std::move(accepted.host), m_shared.answerer, m_shared.limits,
                            m_shared.log);
      m_queue.add(connection.fd(), sys::EventQueue::Interest::read, token);
      m_clients.emplace(token, Client{std::move(connection)});
      proceed(token);
    }
  }

  void proceed(std::uint64_t token) {
    const auto found = m_clients.find(token);
    if (found == m_clients.end()) return;
    Client& client = found->second;
    Connection::Next next = Connection::Next::close;
    try {
      next = client.connection.proceed();
    } catch (const std::exception& error) {  // no memory for this client; the others continue
      m_shared.answerer.tell(error.what());
    }
    if (next == Connection::Next::close) {
      m_clients.erase(found);
      --m_shared.connections;
      return;
    }
    const bool write = next == Connection::Next::write;
    if (write != client.writing) {
      const auto interest = write ? sys::EventQueue::Interest::write : sys::EventQueue::Interest::read;
      m_queue.change(client.connection.fd(), interest, token);
    }
    client.writing = write;
  }

  Shared& m_shared;
  sys::EventQueue m_queue;
  std::optional<Clock::time_point> m_ending;
  std::unordered_map<std::uint64_t, Client> m_clients;  // by token
  std::uint64_t m_next_token = k_first_connection;
};

Server::Server(std::string_view address, const Answerer& answerer, const ServerLimits& limits, AccessLog log)
    : m_shared(std::make_unique<Shared>(address, answerer, limits, std::move(log))) {
  m_url = fmt::format("http://{}/", m_shared->listener.address());
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
    m_shared->answerer.tick();
  }
  m_shared->stopping = true;
  m_shared->wake.signal();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace wheelsmith::index
