#include "base/endian.h"
#include "base/error.h"
#include "cache/broker.h"
#include "cache/frame.h"
#include "cache/storage.h"
#include "cache/texts.h"
#include "sys/root_view.h"

// The shim's side. Without a broker, or without its answer in time, the compile runs as usual.

namespace wheelsmith::cache {

namespace {
constexpr int k_meet_seconds = 5;
constexpr int k_reply_seconds = 120;  // a remote hit may take long
}  // namespace

bool send_frame(const sys::Socket& socket, std::string_view bytes) {
  const le64 size(bytes.size());
  return socket.send_all({reinterpret_cast<const char*>(&size), sizeof size}) &&
         (bytes.empty() || socket.send_all(bytes));
}

std::optional<std::string> receive_frame(const sys::Socket& socket, std::uint64_t limit) {
  const std::string head = socket.receive_all(sizeof(le64));
  if (head.size() != sizeof(le64)) return std::nullopt;
  const std::uint64_t size = Bytes(head).get<le64>(0);
  if (size > limit) return std::nullopt;
  std::string bytes = socket.receive_all(size);
  return bytes.size() == size ? std::optional(std::move(bytes)) : std::nullopt;
}

Conversation::Conversation(const std::filesystem::path& socket) : m_socket(sys::connect_local(socket, k_meet_seconds)) {
  if (!m_socket.is_open()) return;
  m_socket.set_send_timeout(k_reply_seconds);
  m_socket.set_receive_timeout(k_reply_seconds);
}

Conversation::Answer Conversation::find(const CompileRequest& request) {
  Answer answer;
  const sys::Fd root = sys::RootView::own_root();
  if (!m_socket.is_open() || !root.is_open() || !m_socket.send_fd(root) || !send_frame(m_socket, request.to_bytes()))
    return answer;
  const auto bytes = receive_frame(m_socket, k_largest_entry + (1 << 20));
  if (!bytes) return answer;
  try {
    TextReader reader(*bytes);
    const std::string word = reader.text();
    if (word == "hit") {
      Hit hit;
      hit.object = reader.text();
      hit.dependencies = reader.text();
      hit.dependency_text = reader.text();
      hit.remote = reader.number() != 0;
      hit.result.object = reader.text();
      hit.result.output = reader.text();
      hit.result.errors = reader.text();
      hit.result.milliseconds = reader.last_number();
      answer.hit = std::move(hit);
    } else if (word == "miss") {
      Miss miss;
      miss.argv = reader.list();
      miss.environment = reader.list();
      miss.object = reader.text();
      miss.dependencies = reader.text();
      miss.headers = reader.text();
      miss.keep_dependencies = reader.number() != 0;
      miss.remote_failed = reader.number() != 0;
      answer.miss = std::move(miss);
    } else {
      answer.pass = Pass{reader.text()};
    }
  } catch (const Error&) {  // an invalid answer counts as none
    return {};
  }
  return answer;
}

Conversation::PartAnswer Conversation::find_part(const PartRequest& request) {
  PartAnswer answer;
  const sys::Fd root = sys::RootView::own_root();
  if (!m_socket.is_open() || !root.is_open() || !m_socket.send_fd(root) || !send_frame(m_socket, request.to_bytes()))
    return answer;
  const auto bytes = receive_frame(m_socket, k_largest_entry + (1 << 20));
  if (!bytes) return answer;
  try {
    TextReader reader(*bytes);
    const std::string word = reader.text();
    answer.can_store = word == "miss";
    answer.remote = reader.number() != 0;
    answer.remote_failed = reader.number() != 0;
    const std::string found = reader.text();
    if (word == "hit") answer.found = PartFiles::from_bytes(found);
  } catch (const Error&) {  // an invalid answer counts as none
    return {};
  }
  return answer;
}

void Conversation::store_part(const PartFiles& made) { send_frame(m_socket, made.to_bytes()); }

Conversation::Stored Conversation::store(const Made& made) {
  TextWriter writer;
  writer.add(made.object).add(made.dependencies).add(made.headers).add(made.output).add(made.errors);
  const std::string bytes = writer.add_number(made.milliseconds).take();
  if (!send_frame(m_socket, bytes)) return {false, "no answer from the cache"};
  const auto answer = receive_frame(m_socket, 1 << 20);
  if (!answer) return {false, "no answer from the cache"};
  try {
    TextReader reader(*answer);
    const bool kept = reader.number() != 0;
    return {kept, reader.text()};
  } catch (const Error& error) {  // counts as no answer
    return {false, error.what()};
  }
}

}  // namespace wheelsmith::cache
