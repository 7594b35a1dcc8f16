#include "index/serve/connection_linux.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <thread>

#include "base/text.h"
#include "sys/clock.h"

namespace wheelsmith::index {

namespace {

constexpr std::size_t k_read_piece = 8192;
constexpr std::uint64_t k_send_budget = 1 << 20;  // then other clients get their turn
constexpr std::uint64_t k_file_piece = 128 << 10;
constexpr std::uint64_t k_body_piece = 256 << 10, k_body_budget = 4 << 20;
constexpr std::int64_t k_time_step = 20'000'000;  // the kernel stamps files at most every 10 ms

// A file rewritten in place would arrive as a mix of old and new, and the client must not take that as complete. A file
// that was replaced stays unchanged while it is open.
bool was_rewritten(const sys::OpenFile& file) {
  const sys::FileStat now = file.stat_now();
  return now.size != file.stat().size || now.modified != file.stat().modified;
}

// A change within the same clock tick does not change the file's time. After the tick, each later change is visible.
void wait_for_tick(const sys::OpenFile& file) {
  const std::int64_t age = sys::unix_nanoseconds() - file.stat().modified;
  if (age >= 0 && age < k_time_step) std::this_thread::sleep_for(std::chrono::nanoseconds(k_time_step - age));
}

}  // namespace

Connection::Connection(sys::Socket socket, std::string client, const Answerer& answerer, const ServerLimits& limits,
                       const AccessLog& log)
    : m_socket(std::move(socket)),
      m_client(std::move(client)),
      m_answerer(answerer),
      m_limits(limits),
      m_log(log),
      m_deadline(Clock::now() + limits.header_time) {}

bool Connection::receive() {
  std::array<char, k_read_piece> piece;
  for (;;) {
    const sys::Moved got = m_socket.receive_now(piece);
    if (got.state != sys::Moved::State::moved) return got.state == sys::Moved::State::would_wait;
    if (m_in.empty()) m_deadline = Clock::now() + m_limits.header_time;
    m_in.append(piece.data(), got.size);
    // Bytes beyond the maximum request size are not read: the client must wait for its answer.
    if (m_in.size() >= k_most_request || got.size < piece.size()) return true;
  }
}

void Connection::begin(const Response& response, bool head_only, bool keep_alive) {
  m_answering = true;
  m_close = !keep_alive;
  m_head = response.head(keep_alive);
  m_head_sent = 0;
  m_text = response.text;
  m_file = response.file;
  m_immutable = response.immutable;
  m_piece.clear();
  m_piece_sent = 0;
  m_at = response.begin;
  m_end = head_only || response.status == 304 ? m_at : m_at + response.size;
  moved();
}

// Bytes of a response were sent, or are about to be.
void Connection::moved() {
  m_idle_since = Clock::now();
  m_deadline = m_idle_since + m_limits.stall_time;
}

// Whether a response has begun.
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
  if (request.has_body && request.body_size) m_upload = m_answerer.accept(request);
  if (m_upload) {
    m_body_left = *request.body_size;
    // A client with a large body waits for this line. It fits into the empty buffer of a socket.
    if (const auto expect = request.header("expect"); expect && to_lower(*expect) == "100-continue")
      m_socket.send_now("HTTP/1.1 100 Continue\r\n\r\n");
    m_request = std::move(request);
    moved();
    return false;
  }
  answer(request);
  return true;
}

void Connection::answer(const Request& request) {
  const auto start = Clock::now();
  const Response response = m_answerer.answer(request);
  // An unread body would be parsed as the next request.
  begin(response, request.method == "HEAD", request.keep_alive && !request.has_body && !m_close);
  if (m_log) m_log({m_client, request.method, request.target, response.status, m_end - m_at, Clock::now() - start});
}

// False if the upload failed and a response has begun.
bool Connection::feed(std::string_view bytes) {
  try {
    m_upload->take(bytes);
    m_body_left -= bytes.size();
    moved();
    return true;
  } catch (const std::exception& error) {  // becomes a response; the rest of the body is not read
    m_answerer.tell(error.what());
  }
  m_upload.reset();
  begin(plain_response(500, ""), false, false);
  return false;
}

Connection::Body Connection::take_body() {
  if (!m_in.empty()) {
    const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(m_in.size(), m_body_left));
    if (!feed(std::string_view(m_in).substr(0, size))) return Body::answered;
    m_in.erase(0, size);
  }
  m_piece.resize(k_body_piece);
  for (std::uint64_t budget = k_body_budget; m_body_left > 0;) {
    if (budget == 0) return Body::waiting;
    const std::uint64_t most = std::min({k_body_piece, m_body_left, budget});
    const sys::Moved got = m_socket.receive_now(std::span(m_piece.data(), static_cast<std::size_t>(most)));
    if (got.state == sys::Moved::State::would_wait) return Body::waiting;
    if (got.state != sys::Moved::State::moved || got.size == 0) return Body::lost;
    budget -= got.size;
    if (!feed(std::string_view(m_piece).substr(0, got.size))) return Body::answered;
  }
  const auto start = Clock::now();
  Response response = plain_response(500, "");
  try {
    response = m_upload->finish();
  } catch (const std::exception& error) {  // becomes a response
    m_answerer.tell(error.what());
  }
  m_upload.reset();
  begin(response, false, m_request.keep_alive && !m_close);
  if (m_log) m_log({m_client, m_request.method, m_request.target, response.status, m_end - m_at, Clock::now() - start});
  return Body::answered;
}

Connection::Sent Connection::send_text(std::string_view text, std::uint64_t& at, bool more) {
  while (at < text.size()) {
    const sys::Moved sent = m_socket.send_now(text.substr(static_cast<std::size_t>(at)), more);
    if (sent.state != sys::Moved::State::moved)
      return sent.state == sys::Moved::State::would_wait ? Sent::some : Sent::lost;
    at += sent.size;
    moved();
  }
  return Sent::all;
}

// Through a copy, except for immutable files: sendfile() queues the file's own pages, so later writes reach the client
// until the kernel has sent them. With a copy each byte is as it was when read, and the file is checked again after the
// last read.
Connection::Sent Connection::send_file() {
  std::uint64_t budget = k_send_budget;
  while (m_at < m_end) {
    if (budget == 0) return Sent::some;
    if (m_immutable) {
      const std::uint64_t most = std::min(budget, m_end - m_at);
      const sys::Moved sent = m_socket.send_file_now(m_file->fd(), m_at, static_cast<std::size_t>(most));
      if (sent.state == sys::Moved::State::would_wait) return Sent::some;
      // The client has disconnected, or the file was truncated.
      if (sent.state == sys::Moved::State::ended || sent.size == 0) return Sent::lost;
      m_at += sent.size;
      budget -= sent.size;
      moved();
      continue;
    }
    if (m_piece_sent == m_piece.size() && !read_piece()) return Sent::lost;
    const std::string_view rest = std::string_view(m_piece).substr(m_piece_sent);
    const sys::Moved sent = m_socket.send_now(rest.substr(0, static_cast<std::size_t>(budget)));
    if (sent.state == sys::Moved::State::would_wait) return Sent::some;
    // The client is gone.
    if (sent.state == sys::Moved::State::ended) return Sent::lost;
    m_piece_sent += sent.size;
    m_at += sent.size;
    budget -= sent.size;
    moved();
  }
  m_piece = std::string();
  m_piece_sent = 0;
  return Sent::all;
}

// False if the file changed since the response began; closing the connection tells the client.
bool Connection::read_piece() {
  if (m_piece.empty()) wait_for_tick(*m_file);
  const std::uint64_t size = std::min(k_file_piece, m_end - m_at);
  m_piece.resize(static_cast<std::size_t>(size));
  m_piece_sent = 0;
  const std::span<std::uint8_t> into(reinterpret_cast<std::uint8_t*>(m_piece.data()), m_piece.size());
  if (m_file->read_at(m_at, into) != m_piece.size()) return false;
  return m_at + size < m_end || !was_rewritten(*m_file);
}

Connection::Sent Connection::send() {
  const Sent head = send_text(m_head, m_head_sent, m_at < m_end);
  if (head != Sent::all) return head;
  if (m_at == m_end) return Sent::all;
  return m_text ? send_text(std::string_view(*m_text).substr(0, static_cast<std::size_t>(m_end)), m_at, false)
                : send_file();
}

Connection::Next Connection::proceed() {
  for (int requests = 0;; ++requests) {
    if (!m_answering) {
      const bool open = m_upload || receive();
      if (!m_upload && !take_request() && !m_upload) {
        if (!open || m_close) return Next::close;
        return Next::read;
      }
      if (m_upload) {
        switch (take_body()) {
          case Body::waiting: return Next::read;
          case Body::lost: return Next::close;
          case Body::answered: break;
        }
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
      m_socket.end_sending();
      std::array<char, k_read_piece> piece;
      for (int i = 0; i < 64 && m_socket.receive_now(piece).state == sys::Moved::State::moved; ++i) {}
      return Next::close;
    }
    m_idle_since = Clock::now();
    m_deadline = m_idle_since + (m_in.empty() ? m_limits.idle_time : m_limits.header_time);
    // A client that sends requests without end must not block others.
    if (requests >= 16) return Next::write;
  }
}

bool Connection::finish() {
  m_close = true;
  return !m_answering && !m_upload && m_in.empty();
}

}  // namespace wheelsmith::index
