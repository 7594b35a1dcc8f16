#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"
#include "sys/process/process.h"

namespace wheelsmith::source {

// A full commit: 40 hexadecimal digits.
bool is_commit(std::string_view ref);

// Runs git on untrusted repositories: no hooks, no prompts, no file system monitors, no filters that fetch, only the
// given protocols.
class GitCommand {
 public:
  // `stop` is checked between commands; an interrupt ends one early.
  GitCommand(store::Store& store, std::function<bool()> stop);

  // Returns any result. Throws Error only without git, or when interrupted.
  sys::Captured run(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                    std::string_view protocols = "none") const;
  // Its output; throws Error "WHAT (git's message)" when it fails.
  std::string output(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                     std::string_view what) const;

  // A file for GIT_CONFIG_GLOBAL that allows repositories of any owner; git passes it on to its helpers, unlike `-c`.
  // "" if it cannot be written.
  [[nodiscard]] const std::filesystem::path& config() const { return m_config; }

 private:
  std::function<bool()> m_stop;
  std::filesystem::path m_config;
};

// The most informative line of git's errors, safe for a terminal, without passwords in URLs.
std::string git_message(const sys::Captured& result);

}  // namespace wheelsmith::source
