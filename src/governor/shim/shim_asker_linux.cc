#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "governor/shim/shim.h"
#include "governor/shim/shim_cache.h"
#include "sys/io/socket.h"
#include "sys/process/foreground.h"

// What ccache calls instead of a compiler: wheelsmith-grant, which is us.

namespace wheelsmith::governor {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_words = 8 << 20;

bool same_place(const std::string& a, const std::string& b) {
  const fs::path first(a);
  const fs::path second(b);
  struct stat one{};
  struct stat two{};
  const auto folder = [](const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); };
  return first.filename() == second.filename() && ::stat(folder(first).c_str(), &one) == 0 &&
         ::stat(folder(second).c_str(), &two) == 0 && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

std::string* value_behind(std::vector<std::string>& words, std::string_view option) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == option) return &words[i + 1];
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> redirected(std::vector<std::string> exact, const std::vector<std::string>& by_ccache) {
  std::vector<std::string> other = by_ccache;
  for (const char* option : {"-o", "-MF"}) {
    std::string* ours = value_behind(exact, option);
    const std::string* theirs = value_behind(other, option);
    if (ours != nullptr && theirs != nullptr && !same_place(*ours, *theirs)) *ours = *theirs;
  }
  // ccache takes colours out again where nobody sees them.
  if (std::find(other.begin(), other.end(), "-fdiagnostics-color") != other.end() &&
      std::none_of(exact.begin(), exact.end(),
                   [](const std::string& word) { return word.find("diagnostics-color") != word.npos; })) {
    exact.emplace_back("-fdiagnostics-color");
  }
  return exact;
}

// The answer is the end of what the shim says: nothing for the words as ccache has them, or the words, each with a NUL
// behind it. A shim that is gone says nothing.
int run_as_asker(const std::string& shims, std::vector<std::string> words) {
  if (words.empty()) return 127;
  const char* given = std::getenv(k_cache_variable);  // NOLINT(concurrency-mt-unsafe): one thread
  const sys::Socket socket = sys::Socket::from_parent(given == nullptr ? "" : given);
  ::unsetenv(k_cache_variable);  // NOLINT(concurrency-mt-unsafe): one thread
  if (socket.is_open()) {
    std::string answer;
    if (socket.send_all(k_question)) answer = socket.receive_all(k_most_words);
    std::vector<std::string> exact;
    while (!answer.empty()) {
      const std::size_t end = answer.find('\0');
      exact.push_back(answer.substr(0, end));
      answer.erase(0, end == answer.npos ? answer.size() : end + 1);
    }
    if (!exact.empty()) words = redirected(std::move(exact), words);
  }
  const std::string grant = std::getenv(k_grant_variable) == nullptr ? "" : std::getenv(k_grant_variable);
  const auto environment = environment_below(own_environment(), shims, fmt::format("{}={}", k_grant_variable, grant));
  sys::ForegroundCommand command{words.front(), words, environment};
  command.death_signal = SIGTERM;
  sys::ForegroundProcess compiler(command);
  const sys::ForegroundExit exit = compiler.wait();
  if (const int error = compiler.start_error(); error != 0)
    std::fprintf(stderr, "wheelsmith: %s: %s\n", printable(words.front()).c_str(), std::strerror(error));
  if (exit.signal != 0 && socket.is_open()) socket.send_all(std::string{k_ended, static_cast<char>(exit.signal)});
  return exit.code;
}

}  // namespace wheelsmith::governor
