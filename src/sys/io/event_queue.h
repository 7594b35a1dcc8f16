#pragma once

#include <cstdint>
#include <span>

#include "sys/io/fd.h"

namespace wheelsmith::sys {

// Many handles, watched by one thread. Each has a token by which it is told.
class EventQueue {
 public:
  // Throws Error.
  EventQueue();

  enum class Interest : std::uint8_t { read, write };
  void add(const Fd& fd, Interest interest, std::uint64_t token) const;
  // For one that several queues watch: only some of them are woken for an event.
  void add_shared(const Fd& fd, std::uint64_t token) const;
  void change(const Fd& fd, Interest interest, std::uint64_t token) const;
  void remove(const Fd& fd) const;
  // The tokens of those that are ready; how many.
  [[nodiscard]] std::size_t wait(std::span<std::uint64_t> tokens, int milliseconds) const;

 private:
  Fd m_fd;
};

// What ends the waiting of every queue that watches it.
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
