#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "cache/compile.h"
#include "cache/entry.h"
#include "cache/parts/part.h"
#include "sys/io/socket.h"

namespace wheelsmith::cache {

// The files that the compiles of a build have read, sources and headers, as SHA-256: a path may lead through links that
// are gone afterwards, and a header may have been copied before it was read.
struct FilesRead {
  std::set<std::string> digests{};
  bool complete = true;  // false: a compile did not report what it read
};

// Answers the shims of one build. It runs in the process that started the build, outside the build's sandbox; this
// socket is all that a build can reach of the cache.
class Broker {
 public:
  // Listens at `socket`. Throws Error when the cache or the socket cannot be used.
  Broker(const CacheOptions& options, const std::filesystem::path& socket);
  // Returns when all compiled objects are stored.
  ~Broker();
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  // By the compiles that have asked so far, whether they hit or missed.
  [[nodiscard]] FilesRead files_read() const;

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

// The shim's side of a conversation about one compile.
class Conversation {
 public:
  // Not open when no broker listens there.
  explicit Conversation(const std::filesystem::path& socket);
  [[nodiscard]] bool is_open() const { return m_socket.is_open(); }

  struct Hit {
    Result result;
    std::string object, dependencies;  // files to write; the second may be empty
    std::string dependency_text;
    bool remote = false;
  };
  struct Miss {
    std::vector<std::string> argv{};            // to run instead
    std::vector<std::string> environment{};     // NAME=value to add
    std::string object, dependencies, headers;  // files that it writes; the last may be empty
    bool keep_dependencies = false;             // the build requested the file
    bool remote_failed = false;
  };
  struct Pass {
    std::string why;
  };
  struct Answer {
    std::optional<Hit> hit{};
    std::optional<Miss> miss{};
    std::optional<Pass> pass{};
  };
  // Neither when the broker is gone.
  Answer find(const CompileRequest& request);

  struct Made {
    std::string object, dependencies, headers, output, errors;
    std::uint64_t milliseconds = 0;  // CPU time of the compile
  };
  struct Stored {
    bool kept = false;
    std::string why;  // why it was not stored
  };
  // After a miss and a successful compile.
  Stored store(const Made& made);

  // The same for a part of a GPU compile.
  struct PartAnswer {
    std::optional<PartFiles> found{};
    bool can_store = false;
    bool remote = false, remote_failed = false;
  };
  PartAnswer find_part(const PartRequest& request);
  void store_part(const PartFiles& made);

 private:
  sys::Socket m_socket;
};

}  // namespace wheelsmith::cache
