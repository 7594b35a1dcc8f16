#pragma once

#include <unistd.h>

#include <utility>

namespace wheelsmith::sys {

// A file descriptor that is closed with the object. Other modules hold one as part of a socket, a file or a process,
// and wait for it (sys/io/wait.h); raw() is only for src/sys.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : m_fd(fd) {}
  ~Fd() { close(); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  Fd(Fd&& other) noexcept : m_fd(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      close();
      m_fd = other.release();
    }
    return *this;
  }

  [[nodiscard]] bool is_open() const { return m_fd >= 0; }
  void close() {
    if (m_fd >= 0) ::close(m_fd);
    m_fd = -1;
  }
  [[nodiscard]] int raw() const { return m_fd; }
  int release() { return std::exchange(m_fd, -1); }

 private:
  int m_fd = -1;
};

}  // namespace wheelsmith::sys
