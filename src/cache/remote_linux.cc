#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cache/storage.h"
#include "sys/io/socket.h"
#include "sys/process/process.h"

// Remote storage. The program is static and cannot load the system's resolver, so `getent` resolves names.

namespace wheelsmith::cache {

namespace {

constexpr int k_connect_seconds = 2;
constexpr int k_answer_seconds = 20;
constexpr std::size_t k_longest_header = 64 << 10;
constexpr std::size_t k_most_headers = 200;
constexpr std::size_t k_most_idle = 32;

struct Address {
  std::string scheme, user, password, host, port, path;
  bool has_login = false;
};

std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const char* end = digits.data() + digits.size();
    if (text[i] == '%' && digits.size() == 2 && std::from_chars(digits.data(), end, value, 16).ptr == end) {
      result += static_cast<char>(value);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

Address parse_address(std::string_view url) {
  Address address;
  const std::size_t colon = url.find("://");
  if (colon == url.npos) throw Error("cache-remote has no scheme");
  address.scheme = url.substr(0, colon);
  std::string_view rest = url.substr(colon + 3);
  const std::size_t path = rest.find_first_of("/?");
  std::string_view authority = rest.substr(0, path);
  if (path != rest.npos) address.path = rest.substr(path);
  if (const std::size_t at = authority.rfind('@'); at != authority.npos) {
    const std::string_view login = authority.substr(0, at);
    const std::size_t split_at = login.find(':');
    address.has_login = true;
    address.user = unescaped(login.substr(0, split_at));
    if (split_at != login.npos) address.password = unescaped(login.substr(split_at + 1));
    authority.remove_prefix(at + 1);
  }
  const std::size_t port = authority.rfind(':');
  if (port != authority.npos && authority.find(']', port) == authority.npos) {
    address.port = authority.substr(port + 1);
    authority = authority.substr(0, port);
  }
  if (authority.starts_with('[') && authority.ends_with(']')) authority = authority.substr(1, authority.size() - 2);
  address.host = authority;
  if (address.port.empty()) address.port = address.scheme == "redis" ? "6379" : "80";
  return address;
}

// Numeric addresses of a host.
std::vector<std::string> resolve(const std::string& host) {
  if (sys::is_numeric_address(host)) return {host};
  if (host == "localhost") return {"127.0.0.1", "::1"};
  if (host.starts_with('-')) return {};
  sys::Environment environment;
  environment["PATH"] = "/usr/bin:/bin";
  const sys::Captured said = sys::capture(
      {.argv = {"getent", "ahosts", host}, .environment = environment, .timeout = std::chrono::seconds(10)}, 1 << 20);
  std::vector<std::string> found;
  for (const std::string_view line : lines(said.output)) {
    std::string text(line.substr(0, line.find(' ')));
    if (std::find(found.begin(), found.end(), text) == found.end()) found.push_back(std::move(text));
  }
  return found;
}

// Idle connections wait here for the next call.
class Connections {
 public:
  explicit Connections(Address address) : m_address(std::move(address)) {}
  [[nodiscard]] const Address& address() const { return m_address; }

  // Throws Error. `is_new`: nothing was sent on it yet.
  sys::Socket take(bool& is_new) {
    const std::lock_guard guard(m_mutex);
    is_new = m_idle.empty();
    if (!is_new) {
      sys::Socket socket = std::move(m_idle.back());
      m_idle.pop_back();
      return socket;
    }
    sys::Socket socket;
    if (m_address.scheme == "redis+unix") {
      socket = sys::connect_local(m_address.path.substr(0, m_address.path.find('?')), k_connect_seconds);
    } else {
      const auto port = to_number(m_address.port);
      if (!port || *port == 0 || *port > 65535) throw Error("the port of the remote cache is not a number");
      if (m_hosts.empty()) m_hosts = resolve(m_address.host);
      for (const std::string& host : m_hosts) {
        if (socket.is_open()) break;
        socket = sys::connect_tcp(host, static_cast<std::uint16_t>(*port), k_connect_seconds);
      }
    }
    if (!socket.is_open()) throw Error("the remote cache does not answer");
    socket.set_send_timeout(k_answer_seconds);
    socket.set_receive_timeout(k_answer_seconds);
    return socket;
  }
  void give_back(sys::Socket socket) {
    const std::lock_guard guard(m_mutex);
    if (m_idle.size() < k_most_idle) m_idle.push_back(std::move(socket));
  }

 private:
  Address m_address;
  std::mutex m_mutex;
  std::vector<std::string> m_hosts;
  std::vector<sys::Socket> m_idle;
};

// Reads lines and counted bytes of an answer.
class AnswerReader {
 public:
  explicit AnswerReader(const sys::Socket& socket) : m_socket(socket) {}
  // Without its end; throws Error.
  std::string line() {
    for (;;) {
      if (const std::size_t end = m_buffer.find("\r\n", m_at); end != m_buffer.npos) {
        std::string text = m_buffer.substr(m_at, end - m_at);
        m_at = end + 2;
        return text;
      }
      if (m_buffer.size() - m_at > k_longest_header) throw Error("the remote cache sent an endless line");
      more();
    }
  }
  std::string bytes(std::uint64_t size) {
    if (size > k_largest_entry) throw Error("the remote cache sent too much");
    while (m_buffer.size() - m_at < size) more();
    std::string text = m_buffer.substr(m_at, size);
    m_at += size;
    return text;
  }

 private:
  void more() {
    std::array<char, 65536> piece;
    const sys::Moved got = m_socket.receive_some(piece);
    if (got.state != sys::Moved::State::moved) throw Error("the remote cache does not answer");
    if (m_at > 1 << 20) m_buffer.erase(0, std::exchange(m_at, 0));
    m_buffer.append(piece.data(), got.size);
  }

  const sys::Socket& m_socket;
  std::string m_buffer;
  std::size_t m_at = 0;
};

std::string base64(std::string_view text) {
  constexpr std::string_view k_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<std::uint8_t>(text[at]) : 0U; };
    const std::uint32_t value = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (unsigned part = 0; part < 4; ++part)
      result += i + part > text.size() ? '=' : k_digits[value >> (18 - 6 * part) & 63];
  }
  return result;
}

class HttpStorage final : public RemoteStorage {
 public:
  explicit HttpStorage(Address address) : m_connections(std::move(address)) {}

  std::optional<std::string> get(const std::string& key) override {
    auto [status, body] = ask("GET", key, "");
    if (status == 404 || status == 410) return std::nullopt;
    if (status != 200) throw Error(fmt::format("the remote cache returned HTTP {}", status));
    return std::move(body);
  }
  void put(const std::string& key, std::string_view bytes) override {
    const auto answer = ask("PUT", key, bytes);
    if (answer.first < 200 || answer.first > 299)
      throw Error(fmt::format("the remote cache returned HTTP {}", answer.first));
  }

 private:
  std::pair<int, std::string> ask(std::string_view method, const std::string& key, std::string_view content) {
    bool is_new = false;
    for (;;) {
      sys::Socket socket = m_connections.take(is_new);
      try {
        return ask_on(std::move(socket), method, key, content);
      } catch (const Error&) {
        if (is_new) throw;  // an idle connection may have been closed meanwhile
      }
    }
  }

  std::pair<int, std::string> ask_on(sys::Socket socket, std::string_view method, const std::string& key,
                                     std::string_view content) {
    const Address& address = m_connections.address();
    std::string path = address.path.empty() ? "/" : address.path;
    if (!path.ends_with('/')) path += '/';
    std::string head = fmt::format("{} {}{} HTTP/1.1\r\nHost: {}:{}\r\nUser-Agent: wheelsmith\r\n", method, path, key,
                                   address.host, address.port);
    if (address.has_login)
      head += fmt::format("Authorization: Basic {}\r\n", base64(address.user + ":" + address.password));
    if (method == "PUT")
      head += fmt::format("Content-Length: {}\r\nContent-Type: application/octet-stream\r\n", content.size());
    if (!socket.send_all(head + "\r\n") || (!content.empty() && !socket.send_all(content)))
      throw Error("the remote cache does not answer");
    AnswerReader reader(socket);
    const std::string first = reader.line();
    const auto status =
        first.starts_with("HTTP/1.") && first.size() >= 12 ? to_number(first.substr(9, 3)) : std::nullopt;
    if (!status) throw Error("the remote cache does not speak HTTP");
    std::uint64_t size = 0;
    bool sized = *status == 204;
    bool keeps = first.starts_with("HTTP/1.1");
    std::size_t count = 0;
    for (std::string line = reader.line(); !line.empty(); line = reader.line()) {
      if (++count > k_most_headers) throw Error("the remote cache sent too many headers");
      const std::size_t colon = line.find(':');
      const std::string name = to_lower(line.substr(0, colon));
      const std::string value(colon == line.npos ? "" : trim(std::string_view(line).substr(colon + 1)));
      if (name == "content-length") {
        const auto number = to_number(value);
        if (!number) throw Error("the remote cache sent an invalid Content-Length");
        size = *number;
        sized = true;
      }
      if (name == "transfer-encoding") throw Error("the remote cache sent a chunked response, which is not supported");
      if (name == "connection" && to_lower(value) == "close") keeps = false;
    }
    if (!sized) throw Error("the remote cache sent no Content-Length");
    std::string body = reader.bytes(size);
    if (keeps) m_connections.give_back(std::move(socket));
    return {static_cast<int>(*status), std::move(body)};
  }

  Connections m_connections;
};

class RedisStorage final : public RemoteStorage {
 public:
  explicit RedisStorage(Address address) : m_connections(std::move(address)) {}

  std::optional<std::string> get(const std::string& key) override { return ask({"GET", "wheelsmith:" + key}); }
  void put(const std::string& key, std::string_view bytes) override {
    ask({"SET", "wheelsmith:" + key, std::string(bytes)});
  }

 private:
  using Words = std::vector<std::string>;
  static bool send(const sys::Socket& socket, const Words& words) {
    std::string text = fmt::format("*{}\r\n", words.size());
    for (const std::string& word : words) text += fmt::format("${}\r\n", word.size()) + word + "\r\n";
    return socket.send_all(text);
  }
  // The value of an answer; nothing for a null. Throws Error for an error answer.
  static std::optional<std::string> read(AnswerReader& reader) {
    const std::string line = reader.line();
    if (line.empty()) throw Error("the remote cache does not speak the Redis protocol");
    if (line.front() == '-') throw Error("the remote cache returned an error: " + printable(line.substr(1, 200)));
    if (line.front() != '$') return line.substr(1);
    if (line == "$-1") return std::nullopt;
    const auto size = to_number(line.substr(1));
    if (!size) throw Error("the remote cache does not speak the Redis protocol");
    std::string value = reader.bytes(*size);
    reader.bytes(2);
    return value;
  }

  void greet(const sys::Socket& socket) {
    const Address& address = m_connections.address();
    AnswerReader reader(socket);
    const auto say = [&](const Words& words) {
      if (!send(socket, words)) throw Error("the remote cache does not answer");
      read(reader);
    };
    if (address.has_login) {
      Words words{"AUTH"};
      if (!address.user.empty() && !address.password.empty()) words.push_back(address.user);
      words.push_back(address.password.empty() ? address.user : address.password);
      say(words);
    }
    std::string base;
    if (address.scheme == "redis" && address.path.starts_with('/'))
      base = address.path.substr(1, address.path.find('?') - 1);
    if (const std::size_t at = address.path.find("db="); at != std::string::npos) base = address.path.substr(at + 3);
    if (!base.empty() && is_digits(base)) say({"SELECT", base});
  }

  std::optional<std::string> ask(const Words& words) {
    bool is_new = false;
    for (;;) {
      sys::Socket socket = m_connections.take(is_new);
      try {
        if (is_new) greet(socket);
        if (!send(socket, words)) throw Error("the remote cache does not answer");
        AnswerReader reader(socket);
        auto value = read(reader);
        m_connections.give_back(std::move(socket));
        return value;
      } catch (const Error&) {
        if (is_new) throw;
      }
    }
  }

  Connections m_connections;
};

class SharedFolder final : public RemoteStorage {
 public:
  explicit SharedFolder(std::string folder) : m_folder(std::move(folder)) {}
  std::optional<std::string> get(const std::string& key) override { return FolderStorage(m_folder).get(key); }
  void put(const std::string& key, std::string_view bytes) override { FolderStorage(m_folder).put(key, bytes); }

 private:
  std::string m_folder;
};

}  // namespace

std::unique_ptr<RemoteStorage> open_remote(std::string_view url) {
  Address address = parse_address(url);
  if (address.scheme == "http") return std::make_unique<HttpStorage>(std::move(address));
  if (address.scheme == "redis" || address.scheme == "redis+unix")
    return std::make_unique<RedisStorage>(std::move(address));
  if (address.scheme == "file" && address.path.starts_with('/')) return std::make_unique<SharedFolder>(address.path);
  throw Error("cache-remote must be one of redis://, redis+unix://, http://, file://");
}

}  // namespace wheelsmith::cache
