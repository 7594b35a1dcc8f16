#include <signal.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "base/text.h"
#include "governor/shim/shim_child.h"
#include "sys/io/wait.h"
#include "sys/terminal.h"

namespace wheelsmith::governor {

namespace {

// The kernel adds this to a process's size, in thousandths of all memory, when it picks a victim: compilers go before
// the build system, and before us.
constexpr int k_oom_score = 500;

bool is_open(const sys::Fd* fd) { return fd != nullptr && fd->is_open(); }

}  // namespace

ShimChild::ShimChild(const std::string& program, const std::vector<std::string>& argv,
                     const std::vector<std::string>& environment, bool keep)
    : m_program(program) {
  keep = keep || !sys::standard_error_is_terminal();
  const bool one = sys::output_and_errors_are_one();
  if (keep) m_errors = sys::MemoryFile::make("errors");
  if (keep && !one) m_output = sys::MemoryFile::make("output");
  sys::ForegroundCommand command{program, argv, environment};
  command.output = one ? &m_errors.fd() : &m_output.fd();
  command.errors = &m_errors.fd();
  command.death_signal = SIGTERM;
  command.oom_score = k_oom_score;
  m_process = std::make_unique<sys::ForegroundProcess>(command);
}

sys::ForegroundExit ShimChild::wait(const sys::Fd* news, const Watch& on_readable, const Watch& on_tick) {
  for (;;) {
    if (const auto exit = m_process->poll()) return *exit;
    std::array<sys::Waiting, 2> waiting{{{&m_process->end()}, {news}}};
    const bool blind = !m_process->end().is_open();
    const sys::Waited waited = sys::wait_readable(waiting, blind ? 10 : (!is_open(news) ? 100 : -1));
    if (waiting[1].ready) news = on_readable();
    if (waited == sys::Waited::timeout && !is_open(news)) news = on_tick();
  }
}

void ShimChild::show_output() const {
  sys::write_standard(sys::Stream::output, m_output.content());
  sys::write_standard(sys::Stream::errors, m_errors.content());
  if (const int error = m_process->start_error(); error != 0)
    std::fprintf(stderr, "wheelsmith: %s: %s\n", printable(m_program).c_str(), std::strerror(error));
}

}  // namespace wheelsmith::governor
