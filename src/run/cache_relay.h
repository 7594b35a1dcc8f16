#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sys/file.h"

// The way of a step without network to the one server that its compile cache shares with other machines.

namespace wheelsmith::run {

// Outside: a socket in the file system, from which every connection is handed on to the server. Gone with the object.
class CacheRelay {
 public:
  // Whether this storage is reached by the network at all.
  static bool is_needed(const std::string& remote);
  // Throws Error.
  explicit CacheRelay(const std::string& remote);
  ~CacheRelay();
  CacheRelay(const CacheRelay&) = delete;
  CacheRelay& operator=(const CacheRelay&) = delete;

  // The storage's address as the step's processes see it.
  [[nodiscard]] std::string inner_remote() const;
  [[nodiscard]] const std::filesystem::path& folder() const;  // of the socket
  // A command that begins with the inner end: run_relay() in the step's network.
  [[nodiscard]] std::vector<std::string> wrapped(const std::vector<std::string>& argv) const;

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

// Inside: hands every connection to a port of loopback on to the socket while the command runs. Ends as the command
// does.
int run_relay(const std::string& socket, const std::vector<std::string>& argv);

}  // namespace wheelsmith::run
