#include <signal.h>

#include <atomic>

#include "sys/process/process.h"

namespace wheelsmith::sys {

namespace {

// The program's only mutable global: a signal handler receives nothing else.
std::atomic<bool> flag{false};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not take a lock");

// From here on the kernel handles SIGINT itself.
void handle(int) {
  flag = true;
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGINT, &action, nullptr);
}

}  // namespace

void install_interrupt_flag() {
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

bool interrupted() { return flag; }

}  // namespace wheelsmith::sys
