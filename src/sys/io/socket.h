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

// What an attempt to move bytes without waiting came to.
struct Moved {
  enum class State : std::uint8_t { moved, would_wait, ended } state = State::ended;
  std::size_t size = 0;  // of what was moved
};

// One end of a connection. Move-only. No call ever raises SIGPIPE, and signals interrupt none.
class Socket {
 public:
  Socket() = default;
  explicit Socket(Fd fd) : m_fd(std::move(fd)) {}

  [[nodiscard]] bool is_open() const { return m_fd.is_open(); }
  [[nodiscard]] const Fd& fd() const { return m_fd; }
  void close() { m_fd.close(); }

  // All of it, waiting for the other side to read. False when that is gone or takes longer than the send timeout.
  bool send_all(std::string_view text) const;
  // Until the other side says no more, at most so much.
  [[nodiscard]] std::string receive_all(std::size_t limit) const;
  // The next bytes, waiting for them; ended also after the receive timeout.
  Moved receive_some(std::span<char> into) const;
  // These never wait. `more`: the next bytes follow at once and may travel in the same packet.
  Moved send_now(std::string_view text, bool more = false) const;
  Moved receive_now(std::span<char> into) const;
  // A part of a file that nobody changes, from the page cache without a copy. In a thread that blocks SIGPIPE.
  Moved send_file_now(const Fd& file, std::uint64_t offset, std::size_t count) const;
  // The other side reads to the end of what was sent; it can still answer.
  void end_sending() const;
  // Nothing more either way: a call that waits in another thread returns.
  void shut_down() const;

  void set_send_timeout(int seconds) const;  // of connecting, too
  void set_no_delay() const;                 // TCP: small packets go at once

  struct Peer {
    pid_t pid = 0;
    uid_t uid = 0;
  };
  // The process at the other end of a local socket.
  [[nodiscard]] std::optional<Peer> peer() const;

  // A descriptor for the other end of a local socket, with one byte that carries it. False when that end is gone.
  bool send_fd(const Fd& fd) const;
  // The one that was sent. Not open when the next byte carries none. Waits.
  [[nodiscard]] Fd receive_fd() const;
  // How long a call that reads waits for the other side; such a call then ends as if that side were gone.
  void set_receive_timeout(int seconds) const;

  // Lets children have it: the text by which one takes it with from_parent().
  [[nodiscard]] std::string share_with_children() const;
  // Not open when the text names none.
  static Socket from_parent(std::string_view text);

 private:
  Fd m_fd;
};

// Two ends of one connection. Throws Error.
std::pair<Socket, Socket> socket_pair();

// To whoever listens at a path. Not open when nobody does.
Socket connect_local(const std::filesystem::path& path, int timeout_seconds);

// To a numeric address ("127.0.0.1", "::1"). Not open when nobody answers in time.
Socket connect_tcp(const std::string& address, std::uint16_t port, int timeout_seconds);
// Whether a text is such an address.
bool is_numeric_address(const std::string& text);

// A socket with a name in the file system, for this user alone. Throws Error. Removes the name with the object.
class LocalListener {
 public:
  // What has the name already is removed first: whoever could still listen there must be excluded by a lock.
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
  // "127.0.0.1:8080", "[::1]:0", "8080" (of this machine only): numbers, no name is resolved. Throws Error when it is
  // none or taken.
  explicit TcpListener(std::string_view address);

  [[nodiscard]] const Fd& fd() const { return m_fd; }
  // "127.0.0.1:8080", with the port that was chosen.
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
