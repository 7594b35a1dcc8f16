#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "index/serve/server.h"
#include "sys/io/socket.h"

// Private to this module: one client.

namespace wheelsmith::index {

// A non-blocking socket and its state: bytes of a request come in, a response goes out, and so on.
class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  Connection(sys::Socket socket, std::string client, const Answerer& answerer, const ServerLimits& limits,
             const AccessLog& log);

  [[nodiscard]] const sys::Fd& fd() const { return m_socket.fd(); }
  enum class Next : std::uint8_t { read, write, close };
  // Proceeds as far as possible without blocking, and returns what to wait for.
  Next proceed();
  // The server is shutting down: no further requests are accepted. Returns whether there is nothing to wait for.
  bool finish();
  [[nodiscard]] bool is_late(Clock::time_point now) const { return now >= m_deadline; }
  // Since when it has been idle: no complete request, and no room to send more.
  [[nodiscard]] Clock::time_point idle_since() const { return m_idle_since; }
  [[nodiscard]] bool is_answering() const { return m_answering || m_upload != nullptr; }

 private:
  enum class Sent : std::uint8_t { all, some, lost };
  // False at the end of the stream.
  bool receive();
  bool take_request();
  void answer(const Request& request);
  // Receives the body of a request; feed() returns false if a response has begun because the upload failed.
  enum class Body : std::uint8_t { answered, waiting, lost };
  Body take_body();
  bool feed(std::string_view bytes);
  void begin(const Response& response, bool head_only, bool keep_alive);
  Sent send();
  Sent send_text(std::string_view text, std::uint64_t& at, bool more);
  Sent send_file();
  bool read_piece();
  void moved();

  sys::Socket m_socket;
  std::string m_client;
  const Answerer& m_answerer;
  const ServerLimits& m_limits;
  const AccessLog& m_log;
  Clock::time_point m_deadline;
  Clock::time_point m_idle_since = Clock::now();

  std::string m_in;
  std::unique_ptr<Upload> m_upload;  // receives the body of m_request
  Request m_request;
  std::uint64_t m_body_left = 0;
  bool m_answering = false;
  bool m_close = false;
  std::string m_head;
  std::uint64_t m_head_sent = 0;
  std::shared_ptr<const std::string> m_text;
  std::shared_ptr<const sys::OpenFile> m_file;
  bool m_immutable = false;
  std::string m_piece;  // of the file, read and not sent yet
  std::size_t m_piece_sent = 0;
  std::uint64_t m_at = 0;
  std::uint64_t m_end = 0;
};

}  // namespace wheelsmith::index
