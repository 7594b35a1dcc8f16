#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "base/text.h"
#include "source/git/repositories.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/process.h"

namespace wheelsmith::source {

inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline constexpr const char* k_url = "https://host/a.git";

inline bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Small repositories in a temporary folder, and a store. The URLs https://host/… map to `m_origins`.
class RepositoriesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (sys::find_program("git").empty()) GTEST_SKIP() << "no git";
  }

  static sys::Captured try_git(const std::filesystem::path& folder, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"git", "-c", "user.name=a", "-c", "user.email=a@b", "-c",
                                         "protocol.file.allow=always", "-c", "init.defaultBranch=main"});
    return sys::capture({.argv = std::move(arguments), .folder = folder});
  }
  static std::string git(const std::filesystem::path& folder, std::vector<std::string> arguments) {
    const std::string words = join(arguments, " ");
    const sys::Captured result = try_git(folder, std::move(arguments));
    EXPECT_TRUE(result.exit.good()) << words << ": " << result.errors;
    return std::string(trim(result.output));
  }
  // A new commit that writes the file; creates the repository if needed.
  static std::string commit(const std::filesystem::path& folder, const std::string& file, const std::string& text) {
    if (!std::filesystem::exists(folder / ".git")) {
      std::filesystem::create_directories(folder);
      git(folder, {"init", "-q"});
    }
    std::filesystem::create_directories((folder / file).parent_path());
    sys::write_file(folder / file, text);
    git(folder, {"add", "-A"});
    git(folder, {"commit", "-q", "-m", text});
    return git(folder, {"rev-parse", "HEAD"});
  }
  static void add_submodule(const std::filesystem::path& folder, const std::filesystem::path& from,
                            const std::string& url, const std::string& path) {
    git(folder, {"submodule", "-q", "add", "file://" + from.string(), path});
    git(folder, {"config", "-f", ".gitmodules", "submodule." + path + ".url", url});
    git(folder, {"add", "-A"});
    git(folder, {"commit", "-q", "-m", "submodule " + path});
  }
  std::filesystem::path origin(const std::string& name) const { return m_origins / name; }

  Repositories repositories(bool offline = false) { return {m_store, m_mirrors, offline}; }

  sys::TempDir m_temporary;
  std::filesystem::path m_origins = m_temporary.path() / "origins";
  std::filesystem::path m_tree = m_temporary.path() / "tree";
  store::Store m_store{m_temporary.path() / "store"};
  std::map<std::string, std::string> m_mirrors{{"https://host/", m_origins.string()}};
};

}  // namespace wheelsmith::source
