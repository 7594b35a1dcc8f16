#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "governor/server/run_file.h"
#include "governor/server/wire.h"
#include "sys/io/socket.h"

// How a shim connects to the governor.

namespace wheelsmith::governor {

// $XDG_RUNTIME_DIR/wheelsmith, otherwise a folder of this user in the temporary folder. Created if missing; throws
// Error when another user owns it or others can access it.
std::filesystem::path runtime_folder();
std::filesystem::path lock_path(const std::filesystem::path& runtime);
std::filesystem::path socket_path(const std::filesystem::path& runtime);

// A connection that carries messages. Move-only; closing it ends the grant.
class Connection {
 public:
  Connection() = default;
  explicit Connection(sys::Socket socket) : m_socket(std::move(socket)) {}

  [[nodiscard]] bool is_open() const { return m_socket.is_open(); }
  [[nodiscard]] const sys::Fd& fd() const { return m_socket.fd(); }
  void close();
  // False when the peer is gone; the connection is then closed.
  bool send(const Message& message);
  enum class Got { message, nothing, end };
  // Waits at most this long. `message` is set when one arrives.
  Got receive(Message& message, int milliseconds);

 private:
  sys::Socket m_socket;
  std::string m_buffer;
};

// Not open when there is no listener.
Connection connect_to(const std::filesystem::path& runtime);
// The same, and starts a governor if none is running: if several start at once, the lock selects one. Not open when
// none answers in time.
Connection connect_or_start(const RunFile& run, double seconds);

// Seconds of a monotonic clock.
double now();

}  // namespace wheelsmith::governor
