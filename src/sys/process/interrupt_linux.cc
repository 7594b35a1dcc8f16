#include <signal.h>

#include <atomic>

#include "sys/process/own_process.h"

namespace wheelsmith::sys {

namespace {

// The program's only mutable globals: a signal handler receives nothing else.
std::atomic<unsigned> interrupt_count{0};      // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<unsigned> harmless_interrupts{1};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<unsigned>::is_always_lock_free, "a signal handler may not take a lock");

// After the last harmless one the kernel handles SIGINT itself.
void handle(int) {
  if (++interrupt_count < harmless_interrupts) return;
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGINT, &action, nullptr);
}

}  // namespace

void install_interrupt_flag() { install_interrupt_counter(1); }

void install_interrupt_counter(unsigned harmless) {
  harmless_interrupts = harmless;
  struct sigaction action{};
  action.sa_handler = handle;
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: poll() and flock() must return
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before{};
    ::sigaction(signal, nullptr, &before);
    // The parent process may ignore the signal on purpose (nohup, "&" in a script).
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
  }
}

bool interrupted() { return interrupt_count != 0; }

unsigned interruptions() { return interrupt_count; }

}  // namespace wheelsmith::sys
