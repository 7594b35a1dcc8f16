#pragma once

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/bytes.h"

// A file descriptor that is closed with the object. Code outside of src/sys holds one only inside another type of sys.

namespace wheelsmith::sys {

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

  [[nodiscard]] int get() const { return m_fd; }
  [[nodiscard]] bool is_open() const { return m_fd >= 0; }
  int release() { return std::exchange(m_fd, -1); }
  void close() {
    if (m_fd >= 0) ::close(m_fd);
    m_fd = -1;
  }

 private:
  int m_fd = -1;
};

// All of it, at the file's position or at `offset`; throws write_error().
void write_all(int fd, Bytes bytes, const std::filesystem::path& path);
void write_all_at(int fd, std::uint64_t offset, Bytes bytes, const std::filesystem::path& path);

// "cannot write x: no space left on the disk (3.0 GB wanted, 1.2 MB free)".
[[noreturn]] void throw_write_error(int error_number, std::uint64_t wanted, const std::filesystem::path& path);

// Makes a finished rename survive a power cut. File systems that cannot sync a folder are left alone.
void sync_folder(const std::filesystem::path& folder);

}  // namespace wheelsmith::sys
