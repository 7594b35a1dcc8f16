#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/parallel.h"
#include "governor/governor.h"
#include "governor/server/server.h"
#include "sys/files.h"
#include "sys/io/wait.h"

// The governor is one process per user: the holder of the lock in the runtime folder. The first client starts it, and
// it exits when it has been unused for a while; there is nothing to install or stop.
//
// It has one thread and no essential state: connections show who compiles, since a grant ends with its connection; a
// build's limits are in its run file; the units' needs are in the store. So it may be killed at any moment. Shims then
// start the next one and report to it.

namespace wheelsmith::governor {

namespace {

constexpr double k_idle_seconds = 5;
constexpr double k_calm = 0.1, k_alert = 0.04;  // between two samples of memory use

}  // namespace

Server::Server(std::filesystem::path runtime, unsigned cores)
    : m_runtime(std::move(runtime)),
      m_listening(socket_path(m_runtime)),
      m_cores(cores == 0 ? usable_threads() : cores),
      m_admission(m_cores),
      m_idle_since(now()) {}

void Server::run() {
  while (!m_clients.empty() || !m_ending.empty() || now() - m_idle_since < k_idle_seconds) {
    wait(poll_timeout());
    accept_clients();
    // Parts before their compiles, and compiles before builds: an end is processed after what it contains.
    for (const unsigned turn : {0U, 1U, 2U}) {
      for (Client& client : m_clients) {
        if (turn == (!client.is_shim ? 2U : client.part.empty() ? 1U : 0U)) read_from(client);
      }
    }
    drop_closed();
    collect_elsewhere();
    count_cores();
    if (!m_clients.empty()) m_idle_since = now();
    const bool due = now() - m_looked_at >= (m_tight ? k_alert : k_calm);
    if (due && !m_clients.empty()) look();
    if (due || m_changed) decide();
  }
}

int Server::poll_timeout() const {
  if (!m_ending.empty()) return 100;
  if (m_clients.empty()) return 1000;
  if (m_admission.running().empty() && m_admission.waiting().empty()) return 500;
  const double next = m_looked_at + (m_tight ? k_alert : k_calm) - now();
  return std::clamp(static_cast<int>(next * 1000) + 1, 1, 200);
}

void Server::wait(int milliseconds) {
  std::vector<sys::Waiting> waiting{{&m_listening.fd()}};
  for (const Client& client : m_clients) {
    waiting.push_back({&client.connection.fd()});
    if (client.elsewhere && client.elsewhere->process) {
      const sys::Fd& end = client.elsewhere->process->end();
      if (end.is_open())
        waiting.push_back({&end});
      else  // an old kernel
        milliseconds = std::min(milliseconds, 50);
    }
  }
  sys::wait_readable(waiting, milliseconds);
}

void Server::accept_clients() {
  for (;;) {
    sys::Socket socket = m_listening.accept();
    if (!socket.is_open()) return;
    const auto peer = socket.peer();
    if (!peer || (peer->uid != ::geteuid() && peer->uid != 0)) continue;
    // A client that does not read must not block the others.
    socket.set_send_timeout(1);
    Client client;
    client.connection = Connection(std::move(socket));
    client.pid = peer->pid;
    m_clients.push_back(std::move(client));
  }
}

void Server::read_from(Client& client) {
  Message message;
  while (client.connection.is_open() && client.connection.receive(message, 0) == Connection::Got::message) {
    if (message.word == Word::ask || message.word == Word::adopt) {
      ask(client, message, message.word == Word::adopt);
    } else if (message.word == Word::done) {
      done(client, message);
    } else if (message.word == Word::parts) {
      begin_parts(client, message);
    } else if (message.word == Word::place) {
      start_elsewhere(client, message);
    } else if (message.word == Word::hello) {
      client.build = find_build(message.text("run"));
      const auto run = client.build != nullptr ? RunFile::read(message.text("run")) : std::nullopt;
      if (run) {
        client.build->run = *run;
        open_rooms(*client.build, message.text("run"));
        m_admission.set_jobs(message.text("run"), run->jobs);
      }
      client.connection.send({Word::welcome, {}});
    } else if (message.word == Word::end) {
      client.connection.send({Word::ended, {}});
    }
  }
}

void Server::drop_closed() {
  for (auto client = m_clients.begin(); client != m_clients.end();) {
    if (client->connection.is_open()) {
      ++client;
      continue;
    }
    leave(*client);
    client = m_clients.erase(client);
  }
}

// A build with its own core count shares these cores with other current builds.
void Server::count_cores() {
  unsigned most = 0;
  for (const Client& client : m_clients) {
    if (client.build != nullptr)
      most = std::max(most, client.build->run.cores == 0 ? m_cores : client.build->run.cores);
  }
  m_admission.set_cores(most == 0 ? m_cores : most);
}

Server::Build* Server::find_build(const std::string& run_file) {
  if (const auto found = m_builds.find(run_file); found != m_builds.end()) return found->second.get();
  // The file says where we write records: it must be ours, which no sandboxed process can create.
  const std::filesystem::path path(run_file);
  if (path.parent_path() != m_runtime || !path.filename().string().starts_with("run-")) return nullptr;
  const auto run = RunFile::read(path);
  if (!run) return nullptr;
  auto build = std::make_unique<Build>();
  build->run = *run;
  std::unique_ptr<UnitJournal>& journal = m_journals[run->units.string()];
  if (journal == nullptr) journal = std::make_unique<UnitJournal>(run->units);
  build->journal = journal.get();
  open_rooms(*build, path);
  m_admission.set_jobs(run_file, run->jobs);
  return (m_builds[run_file] = std::move(build)).get();
}

int run_governor(const std::filesystem::path& runtime) {
  const auto lock = sys::FileLock::try_take(lock_path(runtime));
  if (!lock) return 0;
  std::signal(SIGPIPE, SIG_IGN);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  // Each waiting shim uses a descriptor.
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  Server(runtime, 0).run();
  return 0;
}

}  // namespace wheelsmith::governor
