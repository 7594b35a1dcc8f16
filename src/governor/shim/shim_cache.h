#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "governor/cache/cache.h"
#include "governor/server/run_file.h"
#include "sys/io/memory_file.h"
#include "sys/io/socket.h"

// ccache between a shim and its compiler. Only src/governor includes this.

namespace wheelsmith::governor {

std::optional<std::string> read_response(const std::string& name);

// What ccache calls instead of the compiler (`words`): asks the shim above, waits for its answer, runs the compiler,
// and tells the shim of a signal that ended it: ccache would only say 255.
int run_as_asker(const std::string& shims, std::vector<std::string> words);

// Its two words on the socket: may I?, and: the compiler was ended by a signal, which follows.
inline constexpr std::string_view k_question = "?";
inline constexpr char k_ended = '!';

// The compiler's words as the build gave them, but written to where ccache wants its object and its dependencies.
std::vector<std::string> redirected(std::vector<std::string> exact, const std::vector<std::string>& by_ccache);

class ShimCache {
 public:
  // Nothing where this compile is not to be cached.
  static std::unique_ptr<ShimCache> find(const std::string& shims, const std::string& real,
                                         const std::vector<std::string>& argv, const CompilerCommand& command,
                                         const RunFile& run);
  // Before each run: a new socket and an empty log.
  void open();
  [[nodiscard]] std::vector<std::string> argv() const;
  // `below` is what environment_below() gave.
  [[nodiscard]] std::vector<std::string> environment(const std::vector<std::string>& below) const;
  void close_far_end() { m_far.close(); }  // when the child has it
  [[nodiscard]] const sys::Fd& socket() const { return m_near.fd(); }
  // Reads what was said. False at the end of the line, where there is nothing to watch any more.
  bool hear();
  [[nodiscard]] bool is_asked() const { return m_is_asked; }
  [[nodiscard]] int signal() const { return m_signal; }  // that ended the compiler, or 0
  // Lets it compile. `argv` is the compiler's command as the build gave it.
  void answer(std::vector<std::string> argv) const;
  // After its end.
  [[nodiscard]] CacheOutcome outcome() const;
  void remove_dependencies() const;

 private:
  ShimCache() = default;
  std::string m_shims, m_real, m_program, m_config, m_identity, m_type;
  CachedCommand m_command;
  sys::Socket m_near, m_far;
  sys::MemoryFile m_log;
  int m_signal = 0;
  bool m_is_asked = false;
};

}  // namespace wheelsmith::governor
