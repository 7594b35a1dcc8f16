#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "base/text.h"
#include "sys/file.h"
#include "sys/file_state.h"
#include "sys/files.h"
#include "toolchain/toolchain.h"

namespace wheelsmith::toolchain {

// A machine made of small scripts in a temporary folder. Each script logs its name when it starts, so that a test can
// distinguish a remembered fact from a new query. For tests only.
class TestMachine {
 public:
  TestMachine() {
    where.machine_root = root();
    where.environment["PATH"] = (root() / "bin").string() + ":/usr/bin:/bin";
    where.environment["HOME"] = (root() / "home").string();
    where.memo.find = [this](std::string_view kind, std::string_view subject,
                             std::string_view fingerprint) -> std::optional<std::string> {
      const auto found = m_memo.find({std::string(kind), std::string(subject), std::string(fingerprint)});
      if (found == m_memo.end()) return std::nullopt;
      return found->second;
    };
    where.memo.keep = [this](std::string_view kind, std::string_view subject, std::string_view fingerprint,
                             std::string_view text) {
      m_memo[{std::string(kind), std::string(subject), std::string(fingerprint)}] = text;
    };
    // Answers about files that were just written are remembered, too.
    where.memo.clock = [] { return std::numeric_limits<std::int64_t>::max(); };
  }

  [[nodiscard]] const std::filesystem::path& root() const { return m_folder.path(); }
  // Only our own scripts can be found.
  void only_own_path() { where.environment["PATH"] = (root() / "bin").string(); }

  std::filesystem::path file(const std::string& name, std::string_view text = "") {
    const std::filesystem::path path = root() / name;
    std::filesystem::create_directories(path.parent_path());
    sys::write_file(path, text);
    return path;
  }
  std::filesystem::path script(const std::string& name, const std::string& body) {
    const std::filesystem::path path =
        file(name, "#!/bin/sh\necho " + name + " >> " + (root() / "starts").string() + "\n" + body + "\n");
    std::filesystem::permissions(path, std::filesystem::perms(0755));
    return path;
  }
  void link(const std::string& name, const std::filesystem::path& target) {
    std::filesystem::create_directories((root() / name).parent_path());
    std::filesystem::create_symlink(target, root() / name);
  }
  // How many scripts have been started so far.
  [[nodiscard]] std::size_t starts() const {
    const std::string text = sys::read_file_if_there(root() / "starts").value_or("");
    return lines(text).size();
  }

  Host where;

 private:
  sys::TempDir m_folder;
  std::map<std::tuple<std::string, std::string, std::string>, std::string> m_memo;
};

}  // namespace wheelsmith::toolchain
