#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "governor/server/sampler.h"
#include "governor/shim/grant.h"
#include "sys/files.h"

namespace wheelsmith::governor {

namespace {

constexpr double k_patience = 20;     // for a reachable governor
constexpr int k_silence_ms = 30'000;  // a governor silent for this long counts as absent; it sends every 5 s
constexpr int k_probe_ms = 500;       // for one that was silent: it answers an urgent request at once
constexpr double k_probe_every = 10;
constexpr useconds_t k_adoption_us = 700'000;  // tick() looks for a new governor every 0.5 s

}  // namespace

void Grant::note_silence() const {
  try {
    sys::write_file(silence_note(), fmt::format("{:.3f}\n", now()));
  } catch (const Error&) {  // full or read-only disk: the next shim waits, too
  }
}

int Grant::patience_ms() {
  const auto text = sys::read_file_if_possible(silence_note(), 100);
  if (!text) return k_silence_ms;
  const double noted = std::strtod(text->c_str(), nullptr);
  const double age = now() - noted;
  if (age >= 0 && age < k_probe_every) return 0;
  note_silence();  // others need not ask meanwhile
  m_hurry = true;
  return k_probe_ms;
}

bool Grant::get() {
  int patience = patience_ms();
  if (patience == 0) return false;
  const double until = now() + k_patience;
  double give_up = until;
  bool lost = false;
  while (now() < give_up) {
    if (!m_connection.is_open()) {
      m_connection = connect_or_start(m_run, k_patience);
      // Running compiles report to a new governor first: otherwise it would admit us beside them.
      if (lost) ::usleep(k_adoption_us);
    }
    if (!m_connection.send(m_question(Word::ask, m_hurry))) continue;
    for (;;) {
      Message answer;
      const Connection::Got got = m_connection.receive(answer, patience);
      if (got == Connection::Got::nothing) {
        note_silence();
        return false;
      }
      if (got == Connection::Got::end) break;
      if (std::exchange(m_hurry, false)) ::unlink(silence_note().c_str());
      patience = k_silence_ms;
      give_up = now() + k_patience;  // any message shows that it is alive
      if (answer.word == Word::refused) return false;
      if (answer.word != Word::grant) continue;
      m_threads = static_cast<unsigned>(std::clamp<std::uint64_t>(answer.number("threads"), 1, 1024));
      m_node = answer.text("node");
      return true;
    }
    m_connection.close();
    lost = true;
    ::usleep(20'000);
  }
  return false;
}

// While the compiler runs: a preemption notice, or the end of the governor. In the latter case paused processes are
// resumed, and the next governor is told about this compile.
const sys::Fd* Grant::watch() {
  Message message;
  for (;;) {
    const Connection::Got got = m_connection.receive(message, 0);
    if (got == Connection::Got::nothing) return &m_connection.fd();
    if (got == Connection::Got::message) {
      m_set_back = m_set_back || message.word == Word::set_back;
      continue;
    }
    if (!m_set_back) signal_tree(::getpid(), SIGCONT);
    m_connection.close();
    return nullptr;
  }
}

// While there is no connection. A second or two after its predecessor a new governor appears: some waiting shim has
// started it.
const sys::Fd* Grant::tick() {
  if (!m_connection.is_open() && ++m_lost % 5 == 0) {
    m_connection = connect_to(m_run.runtime);
    if (m_connection.is_open()) m_connection.send(m_question(Word::adopt, m_hurry));
  }
  return &m_connection.fd();
}

sys::ForegroundExit Grant::wait(ShimChild& child) {
  const auto exit = child.wait(&m_connection.fd(), [this] { return watch(); }, [this] { return tick(); });
  if (m_connection.is_open()) watch();
  return exit;
}

Message Grant::done(const Message& report, bool failed) {
  Message verdict;
  m_connection.send(report);
  while (failed && m_connection.is_open() && m_connection.receive(verdict, 5000) == Connection::Got::message &&
         verdict.word != Word::verdict) {}
  return verdict;
}

}  // namespace wheelsmith::governor
