#include "source/git/git_failure.h"

// git has one exit status for everything; only its messages say what happened. Unknown messages count as final: asking
// three times for something missing only costs time.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/text.h"
#include "fetch/fetch.h"
#include "source/git/git_command.h"

namespace wheelsmith::source {

namespace {

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

constexpr std::string_view k_mirror_fix =
    "add a folder or another URL for it to [mirrors] in wheelsmith.toml, or pass its files with --source NAME=FOLDER";

}  // namespace

bool is_transient(const sys::Captured& result) {
  const std::string text = to_lower(result.errors);
  if (is_gone(result) ||
      has_any(text, {"not found", "does not exist", "not appear to be a git repository", "authentication failed",
                     "permission denied", "could not read username", "could not read password", "host key verification",
                     "not allowed", "unadvertised", "no space left", "certificate"})) {
    return false;
  }
  return has_any(text, {"could not resolve host",
                        "name resolution",
                        "timed out",
                        "timeout",
                        "connection reset",
                        "connection refused",
                        "connection closed",
                        "failed to connect",
                        "network is unreachable",
                        "early eof",
                        "unexpected disconnect",
                        "rpc failed",
                        "hung up",
                        "invalid index-pack output",
                        "returned error: 5",
                        "returned error: 429",
                        "operation too slow",
                        "empty reply",
                        "gnutls",
                        "ssl_",
                        "http/2 stream",
                        "transfer closed",
                        "broken pipe",
                        "could not read from remote repository"});
}

void pause_before_retry(int retry, const std::function<bool()>& stop) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(500 << retry);
  while (std::chrono::steady_clock::now() < until && !(stop && stop()))
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

bool is_gone(const sys::Captured& result) {
  return has_any(result.errors, {"not our ref", "couldn't find remote ref", "did not send all necessary objects",
                                 "did not receive expected object", "no such remote ref"});
}

std::string shown(const std::string& url, const MirrorAddress& place) {
  const std::string name = printable(fetch::without_credentials(url));
  if (place.prefix.empty()) return name;
  return fmt::format("{} (its mirror {})", name, printable(fetch::without_credentials(place.address)));
}

std::string unreachable(const std::string& url, const MirrorAddress& place, std::string_view for_what,
                        const sys::Captured& result) {
  if (result.errors.find("No space left on device") != std::string::npos)
    return fmt::format("cannot fetch {}: no space left on the store's disk", shown(url, place));
  return fmt::format("cannot ask {} for {}: {}; {}", shown(url, place), for_what, git_message(result), k_mirror_fix);
}

std::string forbidden_offline(const std::string& url, const MirrorAddress& place, std::string_view for_what) {
  return fmt::format("--offline: {} has not been asked for {} before; {}", shown(url, place), for_what, k_mirror_fix);
}

}  // namespace wheelsmith::source
