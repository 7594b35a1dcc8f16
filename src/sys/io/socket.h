#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sys/io/fd.h"

namespace wheelsmith::sys {

// The result of a non-blocking transfer.
struct Moved {
  enum class State : std::uint8_t { moved, would_wait, ended } state = State::ended;
  std::size_t size = 0;  // bytes transferred
};

// One end of a connection. Move-only. No call raises SIGPIPE or is interrupted by signals.
class Socket {
 public:
  Socket() = default;
  explicit Socket(Fd fd) : m_fd(std::move(fd)) {}

  [[nodiscard]] bool is_open() const { return m_fd.is_open(); }
  [[nodiscard]] const Fd& fd() const { return m_fd; }
  void close() { m_fd.close(); }

  // Sends everything, waiting for the peer to read. False when the peer is gone or takes longer than the send timeout.
  bool send_all(std::string_view text) const;
  // Reads until the peer stops sending, at most this much.
  [[nodiscard]] std::string receive_all(std::size_t limit) const;
  // The next bytes, waiting for them; ended also after the receive timeout.
  Moved receive_some(std::span<char> into) const;
  // These never wait. `more`: more bytes follow at once and may travel in the same packet.
  Moved send_now(std::string_view text, bool more = false) const;
  Moved receive_now(std::span<char> into) const;
  // Sends a part of a file that never changes, from the page cache without a copy. For threads that block SIGPIPE.
  Moved send_file_now(const Fd& file, std::uint64_t offset, std::size_t count) const;
  // Ends sending: the peer reads to the end and can still answer.
  void end_sending() const;
  // Ends both directions: a call that waits in another thread returns.
  void shut_down() const;

  void set_send_timeout(int seconds) const;  // also for connecting
  void set_no_delay() const;                 // TCP: send small packets at once

  struct Peer {
    pid_t pid = 0;
    uid_t uid = 0;
  };
  // The process at the other end of a local socket.
  [[nodiscard]] std::optional<Peer> peer() const;

  // Sends a descriptor over a local socket, with one byte that carries it. False when the peer is gone.
  bool send_fd(const Fd& fd) const;
  // Receives a descriptor. Not open when the next byte carries none. Waits.
  [[nodiscard]] Fd receive_fd() const;
  // How long a reading call waits for the peer; then it ends as if the peer were gone.
  void set_receive_timeout(int seconds) const;

  // Passes the socket to children: the text by which one opens it with from_parent().
  [[nodiscard]] std::string share_with_children() const;
  // Not open when the text names no descriptor.
  static Socket from_parent(std::string_view text);

 private:
  Fd m_fd;
};

// Two ends of one connection. Throws Error.
std::pair<Socket, Socket> socket_pair();

// Connects to a listener at a path. Not open when there is none.
Socket connect_local(const std::filesystem::path& path, int timeout_seconds);

// Connects to a numeric address ("127.0.0.1", "::1"). Not open when there is no answer in time.
Socket connect_tcp(const std::string& address, std::uint16_t port, int timeout_seconds);
// Whether a text is such an address.
bool is_numeric_address(const std::string& text);

// A socket with a path, for this user only. Throws Error. The object's destructor removes the path.
class LocalListener {
 public:
  // Removes an existing entry first: a lock must ensure that no other process still listens there.
  explicit LocalListener(std::filesystem::path path);
  ~LocalListener();
  LocalListener(const LocalListener&) = delete;
  LocalListener& operator=(const LocalListener&) = delete;

  [[nodiscard]] const Fd& fd() const { return m_fd; }
  // The next client; not open when none waits.
  [[nodiscard]] Socket accept() const;

 private:
  std::filesystem::path m_path;
  Fd m_fd;
};

class TcpListener {
 public:
  // "127.0.0.1:8080", "[::1]:0", "8080" (this machine only): numeric, no name is resolved. Throws Error when it is
  // invalid or in use.
  explicit TcpListener(std::string_view address);

  [[nodiscard]] const Fd& fd() const { return m_fd; }
  // "127.0.0.1:8080", with the chosen port.
  [[nodiscard]] const std::string& address() const { return m_address; }

  struct Accepted {
    Socket socket;                // never blocks; not open when no client waits
    std::string host;             // "127.0.0.1", "[::1]"
    bool out_of_handles = false;  // a client waits, but this process has no descriptor left for it
  };
  [[nodiscard]] Accepted accept() const;

 private:
  Fd m_fd;
  std::string m_address;
};

}  // namespace wheelsmith::sys
