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

// How git is run on what others wrote: no hooks, no prompts, no file system monitors, no filters that fetch, only the
// protocols that are named.
class GitCommand {
 public:
  // `stop` is asked between commands; an interruption ends one early.
  GitCommand(store::Store& store, std::function<bool()> stop);

  // Whatever it says. Throws Error only when there is no git, or it was stopped.
  sys::Captured run(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                    std::string_view protocols = "none") const;
  // What it printed; an Error in the words "WHAT (git's message)" when it fails.
  std::string output(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                     std::string_view what) const;

  // A file for GIT_CONFIG_GLOBAL by which repositories may belong to anybody; git hands it on to its helpers, while
  // `-c` does not reach them. "" where it cannot be written.
  [[nodiscard]] const std::filesystem::path& config() const { return m_config; }

 private:
  std::function<bool()> m_stop;
  std::filesystem::path m_config;
};

// The line of git's complaints that says most, safe for a terminal, without passwords in URLs.
std::string git_message(const sys::Captured& result);

}  // namespace wheelsmith::source
