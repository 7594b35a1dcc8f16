#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"
#include "sys/io/event_queue.h"

namespace wheelsmith::sys {

namespace {

void control(const Fd& queue, int operation, const Fd& fd, std::uint32_t events, std::uint64_t token) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = token;
  ::epoll_ctl(queue.raw(), operation, fd.raw(), &event);
}

std::uint32_t events_of(EventQueue::Interest interest) {
  return interest == EventQueue::Interest::write ? EPOLLOUT : EPOLLIN;
}

}  // namespace

EventQueue::EventQueue() : m_fd(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!m_fd.is_open()) throw Error(std::string("cannot create an epoll descriptor: ") + std::strerror(errno));
}

void EventQueue::add(const Fd& fd, Interest interest, std::uint64_t token) const {
  control(m_fd, EPOLL_CTL_ADD, fd, events_of(interest), token);
}

void EventQueue::add_shared(const Fd& fd, std::uint64_t token) const {
  control(m_fd, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLEXCLUSIVE, token);
}

void EventQueue::change(const Fd& fd, Interest interest, std::uint64_t token) const {
  control(m_fd, EPOLL_CTL_MOD, fd, events_of(interest), token);
}

void EventQueue::remove(const Fd& fd) const { control(m_fd, EPOLL_CTL_DEL, fd, 0, 0); }

std::size_t EventQueue::wait(std::span<std::uint64_t> tokens, int milliseconds) const {
  std::array<epoll_event, 64> events;
  const auto most = static_cast<int>(std::min(events.size(), tokens.size()));
  const int count = ::epoll_wait(m_fd.raw(), events.data(), most, milliseconds);
  for (std::size_t i = 0; static_cast<int>(i) < count; ++i) tokens[i] = events[i].data.u64;
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

WakeUp::WakeUp() : m_fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!m_fd.is_open()) throw Error(std::string("cannot create an event descriptor: ") + std::strerror(errno));
}

void WakeUp::signal() const {
  const std::uint64_t one = 1;
  (void)!::write(m_fd.raw(), &one, sizeof one);
}

}  // namespace wheelsmith::sys
