#pragma once

#include <cstdint>
#include <span>

#include "sys/io/fd.h"

namespace wheelsmith::sys {

// Watches many handles in one thread. Each is identified by a token.
class EventQueue {
 public:
  // Throws Error.
  EventQueue();

  enum class Interest : std::uint8_t { read, write };
  void add(const Fd& fd, Interest interest, std::uint64_t token) const;
  // For a handle that several queues watch: only some of them are woken for an event.
  void add_shared(const Fd& fd, std::uint64_t token) const;
  void change(const Fd& fd, Interest interest, std::uint64_t token) const;
  void remove(const Fd& fd) const;
  // Stores the tokens of ready handles; returns their number.
  [[nodiscard]] std::size_t wait(std::span<std::uint64_t> tokens, int milliseconds) const;

 private:
  Fd m_fd;
};

// Ends the waiting of every queue that watches it.
class WakeUp {
 public:
  // Throws Error.
  WakeUp();

  [[nodiscard]] const Fd& fd() const { return m_fd; }
  void signal() const;

 private:
  Fd m_fd;
};

}  // namespace wheelsmith::sys
