#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "governor/server/run_file.h"
#include "governor/server/wire.h"
#include "sys/io/socket.h"

// How a shim and the governor meet.

namespace wheelsmith::governor {

// $XDG_RUNTIME_DIR/wheelsmith, else a folder of this user's in the temporary folder. Made when it is not there; throws
// Error when it is somebody else's or open to others.
std::filesystem::path runtime_folder();
std::filesystem::path lock_path(const std::filesystem::path& runtime);
std::filesystem::path socket_path(const std::filesystem::path& runtime);

// A line of talk. Move-only; the end of it is the end of the grant.
class Connection {
 public:
  Connection() = default;
  explicit Connection(sys::Socket socket) : m_socket(std::move(socket)) {}

  [[nodiscard]] bool is_open() const { return m_socket.is_open(); }
  [[nodiscard]] const sys::Fd& fd() const { return m_socket.fd(); }
  void close();
  // False when the other side is gone; the connection is closed then.
  bool send(const Message& message);
  enum class Got { message, nothing, end };
  // Waits at most so long. `message` is set when there is one.
  Got receive(Message& message, int milliseconds);

 private:
  sys::Socket m_socket;
  std::string m_buffer;
};

// Not open when nobody listens.
Connection connect_to(const std::filesystem::path& runtime);
// The same, and starts a governor when there is none: of several that do so at once, the lock lets one be it. Not open
// when none answers within the time.
Connection connect_or_start(const RunFile& run, double seconds);

// Seconds of a clock that never goes back.
double now();

}  // namespace wheelsmith::governor
