#include <unistd.h>

#include <array>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/text.h"
#include "cache/broker.h"
#include "cache/dependencies.h"
#include "cache/frame.h"
#include "cache/lookup.h"
#include "cache/storage.h"
#include "cache/texts.h"
#include "sys/io/wait.h"
#include "sys/root_view.h"

// How the parts work together: a shim inside the sandbox connects, sends the root of its file system and the command
// line, and receives an object or a command to run. After a compile it sends the compiler's output. All input reading,
// all keys and all cache writes are on this side of the socket; all writes to the build's tree are on the shim's. So no
// build can store an entry under a key of its choice, and no entry is written to a path of a build's choice.
//
// Every conversation has a thread: most of them wait for a compiler.

namespace wheelsmith::cache {

namespace {

constexpr std::size_t k_most_conversations = 1024;
constexpr std::uint64_t k_largest_request = 32 << 20;
constexpr int k_request_seconds = 30;
constexpr std::size_t k_most_files_read = 1'000'000;

std::string hit_message(const Lookup::Found& found, const Compile& compile) {
  TextWriter writer;
  writer.add("hit").add(compile.output).add(compile.wants_dependencies ? compile.dependencies : "");
  writer.add(compile.wants_dependencies ? write_dependencies(compile.target, found.files, compile.phony) : "");
  writer.add_number(found.remote ? 1 : 0);
  writer.add(found.result.object).add(found.result.output).add(found.result.errors);
  writer.add_number(found.result.milliseconds);
  return writer.take();
}

std::string miss_message(const Lookup::Pending& pending) {
  const Compile& compile = pending.compile;
  const std::string headers = compile.lists_headers ? compile.output + ".wheelsmith.h" : "";
  std::vector<std::string> environment;
  if (!headers.empty()) {
    environment = {"CC_PRINT_HEADERS=1", "CC_PRINT_HEADERS_FILE=" + absolute_path(pending.request.folder, headers)};
  }
  TextWriter writer;
  writer.add("miss").add(compile.argv).add(environment).add(compile.output).add(compile.dependencies).add(headers);
  writer.add_number(compile.wants_dependencies ? 1 : 0).add_number(pending.remote_failed ? 1 : 0);
  return writer.take();
}

}  // namespace

struct Broker::State {
  Lookup lookup;
  sys::LocalListener listener;
  sys::Socket stop_near, stop_far;
  std::mutex mutex;
  std::condition_variable ended;
  std::list<const sys::Socket*> conversations;
  bool stops = false;
  std::set<std::string> digests_read;
  std::size_t unreported = 0;  // conversations whose compile has not said what it read
  std::thread thread;

  State(const CacheOptions& options, const std::filesystem::path& socket) : lookup(options), listener(socket) {
    std::tie(stop_near, stop_far) = sys::socket_pair();
  }

  void listen() {
    for (;;) {
      std::array<sys::Waiting, 2> waiting{{{&listener.fd()}, {&stop_far.fd()}}};
      sys::wait_readable(waiting, -1);
      if (waiting[1].ready) return;
      if (!waiting[0].ready) continue;
      auto socket = std::make_unique<sys::Socket>(listener.accept());
      if (!socket->is_open()) continue;
      const std::lock_guard guard(mutex);
      if (conversations.size() >= k_most_conversations) {  // it compiles without the cache
        ++unreported;
        continue;
      }
      ++unreported;
      const auto place = conversations.insert(conversations.end(), socket.get());
      std::thread([this, place, socket = std::move(socket)] {
        try {
          converse(*socket);
        } catch (const std::exception&) {  // an invalid request, a full disk: this compile is not cached
        }
        const std::lock_guard done(mutex);
        conversations.erase(place);
        ended.notify_all();
      }).detach();
    }
  }

  void note_read(const std::vector<std::string>& digests) {
    const std::lock_guard guard(mutex);
    for (const std::string& digest : digests) {
      if (digests_read.size() >= k_most_files_read) return;
      digests_read.insert(to_hex(Digest(digest.begin(), digest.end())));
    }
    --unreported;
  }

  void note_nothing_read() {
    const std::lock_guard guard(mutex);
    --unreported;
  }

  void converse(const sys::Socket& socket) {
    const auto peer = socket.peer();
    if (!peer || peer->uid != ::geteuid()) return note_nothing_read();  // not a process of the build
    socket.set_receive_timeout(k_request_seconds);
    sys::Fd root = socket.receive_fd();
    const auto bytes = root.is_open() ? receive_frame(socket, k_largest_request) : std::nullopt;
    if (!bytes) return;
    const sys::RootView view(std::move(root));
    if (PartRequest::is_request(*bytes)) return converse_about_part(socket, view, PartRequest::from_bytes(*bytes));
    const CompileRequest request = CompileRequest::from_bytes(*bytes);
    Lookup::Answer answer = lookup.find(view, request);
    if (answer.found) {
      note_read(answer.found->digests);
      send_frame(socket, hit_message(*answer.found, answer.compile));
      return;
    }
    if (!answer.pending) {
      send_frame(socket, TextWriter().add("pass").add(printable(answer.why)).take());
      return;
    }
    socket.set_receive_timeout(0);  // a compile may take hours
    if (!send_frame(socket, miss_message(*answer.pending))) return;
    const auto made_bytes = receive_frame(socket, k_largest_entry);
    if (!made_bytes) return;  // the compile failed, perhaps because of a header
    TextReader reader(*made_bytes);
    Lookup::Made made;
    made.object = reader.text();
    made.dependencies = reader.text();
    made.headers = reader.text();
    made.output = reader.text();
    made.errors = reader.text();
    made.milliseconds = reader.last_number();
    auto described = lookup.describe(view, *answer.pending, made);
    const auto* uncacheable = std::get_if<Uncacheable>(&described);
    if (uncacheable == nullptr) note_read(std::get<Variant>(described).digests);
    send_frame(socket, TextWriter()
                           .add_number(uncacheable == nullptr ? 1 : 0)
                           .add(uncacheable == nullptr ? "" : printable(uncacheable->why))
                           .take());
    // After the answer: the build does not wait for it.
    if (uncacheable == nullptr) lookup.store(*answer.pending, std::move(std::get<Variant>(described)), made);
  }

  void converse_about_part(const sys::Socket& socket, const sys::RootView& view, const PartRequest& request) {
    note_nothing_read();  // the compile that the part belongs to reports what it reads
    const Lookup::PartAnswer answer = lookup.find_part(view, request);
    TextWriter writer;
    writer.add(answer.found ? "hit" : answer.pending ? "miss" : "pass");
    writer.add_number(answer.remote ? 1 : 0).add_number(answer.remote_failed ? 1 : 0);
    writer.add(answer.found ? answer.found->to_bytes() : "");
    if (!send_frame(socket, writer.take()) || !answer.pending) return;
    socket.set_receive_timeout(0);
    if (const auto bytes = receive_frame(socket, k_largest_entry))
      lookup.store_part(request, *answer.pending, PartFiles::from_bytes(*bytes));
  }
};

Broker::Broker(const CacheOptions& options, const std::filesystem::path& socket)
    : m_state(std::make_unique<State>(options, socket)) {
  m_state->thread = std::thread([state = m_state.get()] { state->listen(); });
}

FilesRead Broker::files_read() const {
  const std::lock_guard guard(m_state->mutex);
  return {m_state->digests_read, m_state->unreported == 0};
}

Broker::~Broker() {
  m_state->stop_near.close();
  m_state->thread.join();
  std::unique_lock guard(m_state->mutex);
  // Connections of processes that outlived the build.
  for (const sys::Socket* socket : m_state->conversations) socket->shut_down();
  m_state->ended.wait(guard, [&] { return m_state->conversations.empty(); });
}

}  // namespace wheelsmith::cache
