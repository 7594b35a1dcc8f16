#include "sys/process/forker_linux.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>

// The kernel sends the parent-death signal when the *thread* that forked ends, not when its process does. A pool worker
// that starts a compiler, hands the Process on and ends would kill the compiler. So one thread does all the forking; it
// starts with the first child and lives as long as the process. Handing over a request costs some 20 microseconds on
// top of the millisecond for fork and exec.

namespace wheelsmith::sys {

namespace {

class Forker {
 public:
  Forker() : m_owner(::getpid()) {
    // Signals go to the threads that check the flag; and a child starts with all of them blocked, so that no handler of
    // this process runs in it.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      std::thread([this] { work(); }).detach();
    } catch (...) {
      ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
      throw;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  [[nodiscard]] pid_t owner() const { return m_owner; }

  pid_t run(const std::function<void()>& child) {
    const std::lock_guard<std::mutex> one_at_a_time(m_callers);
    std::unique_lock<std::mutex> lock(m_mutex);
    m_child = &child;
    m_changed.notify_all();
    m_changed.wait(lock, [this] { return m_child == nullptr; });
    errno = m_error;
    return m_pid;
  }

 private:
  void work() {
    std::unique_lock<std::mutex> lock(m_mutex);
    for (;;) {
      m_changed.wait(lock, [this] { return m_child != nullptr; });
      m_pid = ::fork();
      m_error = errno;
      if (m_pid == 0) {
        (*m_child)();
        ::_exit(127);
      }
      m_child = nullptr;
      m_changed.notify_all();
    }
  }

  pid_t m_owner;
  std::mutex m_callers;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  const std::function<void()>* m_child = nullptr;
  pid_t m_pid = -1;
  int m_error = 0;
};

}  // namespace

pid_t fork_from_living_thread(const std::function<void()>& child) {
  // Never deleted: its thread waits on it until the process exits.
  static Forker* const forker = new Forker;
  // A copy of this process made by a plain fork has the object but not the thread.
  if (forker->owner() == ::getpid()) return forker->run(child);
  const pid_t pid = ::fork();
  if (pid == 0) {
    child();
    ::_exit(127);
  }
  return pid;
}

}  // namespace wheelsmith::sys
