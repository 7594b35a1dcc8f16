#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/io/socket.h"

namespace wheelsmith::sys {

namespace {

constexpr int k_local_backlog = 4096;  // a build starts hundreds of compiles at once
constexpr int k_tcp_backlog = 1024;

// Nothing when the path is too long for a socket address.
std::optional<sockaddr_un> local_address(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
  return address;
}

union TcpAddress {
  sockaddr any;
  sockaddr_in four;
  sockaddr_in6 six;
};

TcpAddress parse_address(std::string_view text, socklen_t& size) {
  TcpAddress address{};
  const std::size_t colon = text.rfind(':');
  std::string host(colon == std::string_view::npos ? "127.0.0.1" : text.substr(0, colon));
  const auto port = to_number(colon == std::string_view::npos ? text : text.substr(colon + 1));
  if (host == "localhost" || host.empty()) host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const bool six = host.find(':') != std::string::npos;
  if (!port || *port > 65535 ||
      ::inet_pton(six ? AF_INET6 : AF_INET, host.c_str(),
                  six ? static_cast<void*>(&address.six.sin6_addr) : static_cast<void*>(&address.four.sin_addr)) != 1)
    throw Error(fmt::format("{} is not a numeric address with a port, like 127.0.0.1:8080, 0.0.0.0:80 or [::1]:0",
                            printable(text)));
  const in_port_t network_port = htons(static_cast<std::uint16_t>(*port));
  address.any.sa_family = six ? AF_INET6 : AF_INET;
  (six ? address.six.sin6_port : address.four.sin_port) = network_port;
  size = six ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  return address;
}

std::string host_of(const TcpAddress& address) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (address.any.sa_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &address.six.sin6_addr, text, sizeof text);
    return fmt::format("[{}]", text);
  }
  ::inet_ntop(AF_INET, &address.four.sin_addr, text, sizeof text);
  return text;
}

std::uint16_t port_of(const TcpAddress& address) {
  return ntohs(address.any.sa_family == AF_INET6 ? address.six.sin6_port : address.four.sin_port);
}

}  // namespace

Socket connect_local(const std::filesystem::path& path, int timeout_seconds) {
  const auto address = local_address(path);
  if (!address) return {};
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return {};
  Socket socket(std::move(fd));
  socket.set_send_timeout(timeout_seconds);
  while (::connect(socket.fd().raw(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) {
    if (errno != EINTR) return {};
  }
  return socket;
}

bool is_numeric_address(const std::string& text) {
  in6_addr any{};
  return ::inet_pton(AF_INET, text.c_str(), &any) == 1 || ::inet_pton(AF_INET6, text.c_str(), &any) == 1;
}

Socket connect_tcp(const std::string& address, std::uint16_t port, int timeout_seconds) {
  TcpAddress place{};
  socklen_t size = sizeof place.four;
  if (::inet_pton(AF_INET, address.c_str(), &place.four.sin_addr) == 1) {
    place.four.sin_family = AF_INET;
    place.four.sin_port = htons(port);
  } else if (::inet_pton(AF_INET6, address.c_str(), &place.six.sin6_addr) == 1) {
    place.six.sin6_family = AF_INET6;
    place.six.sin6_port = htons(port);
    size = sizeof place.six;
  } else {
    return {};
  }
  Socket socket(Fd(::socket(place.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  if (!socket.is_open()) return {};
  socket.set_send_timeout(timeout_seconds);
  if (::connect(socket.fd().raw(), &place.any, size) != 0) return {};
  socket.set_no_delay();
  return socket;
}

LocalListener::LocalListener(std::filesystem::path path) : m_path(std::move(path)) {
  const auto address = local_address(m_path);
  if (!address) throw Error("socket path too long: " + printable(m_path.string()));
  m_fd = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!m_fd.is_open()) throw_sys_error(errno, "open", m_path);
  ::unlink(m_path.c_str());
  const mode_t before = ::umask(0177);
  const int bound = ::bind(m_fd.raw(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address);
  ::umask(before);
  if (bound != 0 || ::listen(m_fd.raw(), k_local_backlog) != 0) throw_sys_error(errno, "listen on", m_path);
}

LocalListener::~LocalListener() { ::unlink(m_path.c_str()); }

Socket LocalListener::accept() const { return Socket(Fd(::accept4(m_fd.raw(), nullptr, nullptr, SOCK_CLOEXEC))); }

TcpListener::TcpListener(std::string_view address) {
  const auto fail = [&](const char* what) {
    throw Error(fmt::format("cannot {} {}: {}", what, printable(address), std::strerror(errno)));
  };
  socklen_t size = 0;
  TcpAddress place = parse_address(address, size);
  m_fd = Fd(::socket(place.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!m_fd.is_open()) fail("open a socket for");
  const int on = 1;
  ::setsockopt(m_fd.raw(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(m_fd.raw(), &place.any, size) != 0 || ::listen(m_fd.raw(), k_tcp_backlog) != 0 ||
      ::getsockname(m_fd.raw(), &place.any, &size) != 0)
    fail("listen on");
  m_address = fmt::format("{}:{}", host_of(place), port_of(place));
}

TcpListener::Accepted TcpListener::accept() const {
  TcpAddress peer{};
  socklen_t size = sizeof peer;
  Accepted accepted;
  accepted.socket = Socket(Fd(::accept4(m_fd.raw(), &peer.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC)));
  if (accepted.socket.is_open()) {
    accepted.host = host_of(peer);
  } else {
    accepted.out_of_handles = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
  }
  return accepted;
}

}  // namespace wheelsmith::sys
