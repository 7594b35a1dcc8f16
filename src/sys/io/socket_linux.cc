#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "sys/io/socket.h"

namespace wheelsmith::sys {

namespace {

// Repeats the call while signals interrupt it, and returns its result.
template <class Call>
Moved moved(Call call) {
  ssize_t size = 0;
  do {
    size = call();
  } while (size < 0 && errno == EINTR);
  if (size > 0) return {Moved::State::moved, static_cast<std::size_t>(size)};
  const bool would_wait = size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  return {would_wait ? Moved::State::would_wait : Moved::State::ended, 0};
}

template <class Value>
void set_option(const Fd& fd, int level, int option, const Value& value) {
  ::setsockopt(fd.raw(), level, option, &value, sizeof value);
}

}  // namespace

bool Socket::send_all(std::string_view text) const {
  while (!text.empty()) {
    const Moved sent = moved([&] { return ::send(m_fd.raw(), text.data(), text.size(), MSG_NOSIGNAL); });
    if (sent.state != Moved::State::moved) return false;
    text.remove_prefix(sent.size);
  }
  return m_fd.is_open();
}

std::string Socket::receive_all(std::size_t limit) const {
  std::string text;
  std::array<char, 16384> piece;
  while (text.size() < limit) {
    const std::size_t room = std::min(piece.size(), limit - text.size());
    const Moved got = moved([&] { return ::recv(m_fd.raw(), piece.data(), room, 0); });
    if (got.state != Moved::State::moved) break;
    text.append(piece.data(), got.size);
  }
  return text;
}

Moved Socket::receive_some(std::span<char> into) const {
  Moved got = moved([&] { return ::recv(m_fd.raw(), into.data(), into.size(), 0); });
  if (got.state == Moved::State::would_wait) got.state = Moved::State::ended;
  return got;
}

Moved Socket::send_now(std::string_view text, bool more) const {
  const int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0);
  return moved([&] { return ::send(m_fd.raw(), text.data(), text.size(), flags); });
}

Moved Socket::send_file_now(const Fd& file, std::uint64_t offset, std::size_t count) const {
  auto at = static_cast<off_t>(offset);
  return moved([&] { return ::sendfile(m_fd.raw(), file.raw(), &at, count); });
}

Moved Socket::receive_now(std::span<char> into) const {
  return moved([&] { return ::recv(m_fd.raw(), into.data(), into.size(), MSG_DONTWAIT); });
}

void Socket::end_sending() const { ::shutdown(m_fd.raw(), SHUT_WR); }

void Socket::shut_down() const { ::shutdown(m_fd.raw(), SHUT_RDWR); }

void Socket::set_send_timeout(int seconds) const { set_option(m_fd, SOL_SOCKET, SO_SNDTIMEO, timeval{seconds, 0}); }

void Socket::set_no_delay() const { set_option(m_fd, IPPROTO_TCP, TCP_NODELAY, 1); }

std::optional<Socket::Peer> Socket::peer() const {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(m_fd.raw(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return Peer{peer.pid, peer.uid};
}

bool Socket::send_fd(const Fd& fd) const {
  char byte = 'F';
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int raw = fd.raw();
  std::memcpy(CMSG_DATA(header), &raw, sizeof raw);
  return moved([&] { return ::sendmsg(m_fd.raw(), &message, MSG_NOSIGNAL); }).state == Moved::State::moved;
}

Fd Socket::receive_fd() const {
  char byte = 0;
  iovec part{&byte, 1};
  // Room for one descriptor: the kernel closes any others that the peer sends.
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (moved([&] { return ::recvmsg(m_fd.raw(), &message, MSG_CMSG_CLOEXEC); }).state != Moved::State::moved) return {};
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    if (header->cmsg_len < CMSG_LEN(sizeof(int))) continue;
    int raw = -1;
    std::memcpy(&raw, CMSG_DATA(header), sizeof raw);
    return Fd(raw);
  }
  return {};
}

void Socket::set_receive_timeout(int seconds) const { set_option(m_fd, SOL_SOCKET, SO_RCVTIMEO, timeval{seconds, 0}); }

std::string Socket::share_with_children() const {
  ::fcntl(m_fd.raw(), F_SETFD, 0);
  return std::to_string(m_fd.raw());
}

Socket Socket::from_parent(std::string_view text) {
  const auto number = to_number(text);
  if (!number || *number <= STDERR_FILENO || *number >= 1 << 20) return {};
  const int fd = static_cast<int>(*number);
  if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return {};
  return Socket(Fd(fd));
}

std::pair<Socket, Socket> socket_pair() {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw Error(std::string("cannot create a socket: ") + std::strerror(errno));
  return {Socket(Fd(ends[0])), Socket(Fd(ends[1]))};
}

}  // namespace wheelsmith::sys
