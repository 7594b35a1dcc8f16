#include "index/connection_linux.h"

#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace wheelsmith::index {

namespace {

constexpr std::size_t k_read_piece = 8192;
constexpr std::uint64_t k_send_piece = 1 << 20;  // then others have their turn

}  // namespace

Connection::Connection(int fd, std::string client, const Responder& responder, const ServerLimits& limits,
                       const AccessLog& log)
    : m_fd(fd),
      m_client(std::move(client)),
      m_responder(responder),
      m_limits(limits),
      m_log(log),
      m_deadline(Clock::now() + limits.header_time) {}

Connection::~Connection() { ::close(m_fd); }

bool Connection::receive() {
  char piece[k_read_piece];
  for (;;) {
    const ssize_t size = ::recv(m_fd, piece, sizeof piece, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (size == 0) return false;
    if (m_in.empty()) m_deadline = Clock::now() + m_limits.header_time;
    m_in.append(piece, static_cast<std::size_t>(size));
    // More than one request may hold is not even read: the sender has to wait for its answer.
    if (m_in.size() >= k_most_request || size < static_cast<ssize_t>(sizeof piece)) return true;
  }
}

void Connection::begin(const Response& response, bool head_only, bool keep_alive) {
  m_answering = true;
  m_close = !keep_alive;
  m_head = response.head(keep_alive);
  m_head_sent = 0;
  m_text = response.text;
  m_file = response.file;
  m_at = response.begin;
  m_end = head_only || response.status == 304 ? m_at : m_at + response.size;
  m_deadline = Clock::now() + m_limits.stall_time;
}

// Whether an answer has begun.
bool Connection::take_request() {
  Request request;
  std::size_t used = 0;
  switch (parse_request(m_in, request, used)) {
    case RequestState::incomplete: return false;
    case RequestState::bad: begin(plain_response(400, ""), false, false); return true;
    case RequestState::too_large: begin(plain_response(431, ""), false, false); return true;
    case RequestState::complete: break;
  }
  m_in.erase(0, used);
  const auto start = Clock::now();
  const Response response = m_responder.answer(request);
  // A body that nobody reads would be taken for the next request.
  begin(response, request.method == "HEAD", request.keep_alive && !request.has_body && !m_close);
  if (m_log) m_log({m_client, request.method, request.target, response.status, m_end - m_at, Clock::now() - start});
  return true;
}

Connection::Sent Connection::send_text(const char* data, std::size_t size, std::uint64_t& at, bool more) {
  while (at < size) {
    const ssize_t sent =
        ::send(m_fd, data + at, size - static_cast<std::size_t>(at), MSG_NOSIGNAL | (more ? MSG_MORE : 0));
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? Sent::some : Sent::lost;
    at += static_cast<std::uint64_t>(sent);
    m_deadline = Clock::now() + m_limits.stall_time;
  }
  return Sent::all;
}

Connection::Sent Connection::send_file() {
  std::uint64_t budget = k_send_piece;
  while (m_at < m_end) {
    if (budget == 0) return Sent::some;
    auto offset = static_cast<off_t>(m_at);
    const ssize_t sent =
        ::sendfile(m_fd, m_file->fd(), &offset, static_cast<std::size_t>(std::min(budget, m_end - m_at)));
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Sent::some;
    if (sent <= 0) return Sent::lost;  // 0: the file became shorter; hanging up is how the client learns of it
    m_at += static_cast<std::uint64_t>(sent);
    budget -= static_cast<std::uint64_t>(sent);
    m_deadline = Clock::now() + m_limits.stall_time;
  }
  return Sent::all;
}

Connection::Sent Connection::send() {
  const Sent head = send_text(m_head.data(), m_head.size(), m_head_sent, m_at < m_end);
  if (head != Sent::all) return head;
  if (m_at == m_end) return Sent::all;
  return m_text ? send_text(m_text->data(), static_cast<std::size_t>(m_end), m_at, false) : send_file();
}

Connection::Next Connection::proceed() {
  for (int requests = 0;; ++requests) {
    if (!m_answering) {
      const bool open = receive();
      if (!take_request()) {
        if (!open || m_close) return Next::close;
        return Next::read;
      }
    }
    switch (send()) {
      case Sent::some: return Next::write;
      case Sent::lost: return Next::close;
      case Sent::all: break;
    }
    m_answering = false;
    m_text.reset();
    m_file.reset();
    if (m_close) {
      // Closing with unread bytes would send a reset, which may overtake the answer.
      ::shutdown(m_fd, SHUT_WR);
      char piece[k_read_piece];
      for (int i = 0; i < 64 && ::recv(m_fd, piece, sizeof piece, MSG_DONTWAIT) > 0; ++i) {}
      return Next::close;
    }
    m_deadline = Clock::now() + (m_in.empty() ? m_limits.idle_time : m_limits.header_time);
    // One that sends requests without end has others waiting behind it.
    if (requests >= 16) return Next::write;
  }
}

bool Connection::finish() {
  m_close = true;
  return !m_answering && m_in.empty();
}

}  // namespace wheelsmith::index
