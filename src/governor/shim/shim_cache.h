#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/broker.h"
#include "governor/model/unit.h"
#include "governor/record.h"
#include "governor/server/run_file.h"

// A shim's access to the compile cache. Only src/governor includes this.

namespace wheelsmith::governor {

std::optional<std::string> read_response(const std::string& name);

class ShimCache {
 public:
  // Null if this compile must not be cached.
  static std::unique_ptr<ShimCache> find(const std::string& shims, const std::string& real,
                                         const std::vector<std::string>& argv, const CompilerCommand& command,
                                         const RunFile& run);

  // Queries the broker. After a hit the object and its companions are written.
  CacheUse look();
  [[nodiscard]] bool was_remote() const { return m_remote; }
  [[nodiscard]] bool remote_failed() const { return m_remote_failed; }
  [[nodiscard]] const std::string& why() const { return m_why; }  // why it cannot be cached

  // After a miss: the command to run. `argv` is the compiler's command as the governor granted it.
  [[nodiscard]] std::vector<std::string> argv(const std::vector<std::string>& granted) const;
  [[nodiscard]] std::vector<std::string> environment(std::vector<std::string> below) const;
  // CPU time that a hit saved; 0: unknown.
  [[nodiscard]] std::uint64_t saved_ms() const { return m_saved_ms; }
  // After a successful compile, with its output and CPU time: whether it was stored.
  CacheUse store(const std::string& output, const std::string& errors, std::uint64_t milliseconds);
  // The request as it was made; and more headers than the compiler lists by itself.
  [[nodiscard]] const cache::CompileRequest& request() const { return m_request; }
  void add_headers(const std::vector<std::string>& names) const;
  // After every compile: removes outputs that the build did not request.
  void clean_up() const;

 private:
  ShimCache(cache::Conversation conversation, cache::CompileRequest request)
      : m_conversation(std::move(conversation)), m_request(std::move(request)) {}
  bool write_hit(const cache::Conversation::Hit& hit) const;

  cache::Conversation m_conversation;
  cache::CompileRequest m_request;
  std::optional<cache::Conversation::Miss> m_miss;
  std::string m_why;
  bool m_remote = false, m_remote_failed = false;
  std::uint64_t m_saved_ms = 0;
};

}  // namespace wheelsmith::governor
