#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sys/process/process.h"

namespace wheelsmith::source {

// Additional inputs of a command besides its arguments.
struct GitMore {
  std::map<std::string, std::string> variables{};
  std::string input{};
};

// One repository with files in a user's folder: the root of a checkout, or one of its submodules. Hooks, the user's
// settings, prompts and programs that the repository's own configuration names are disabled, and commits that we create
// always have the same author, so that the same checkout has the same commits everywhere.
class GitFolder {
 public:
  // to_the_end: its commands continue when the user interrupts (a move must complete, or be undone).
  enum class Patience { until_interrupted, to_the_end };
  explicit GitFolder(std::filesystem::path folder, Patience patience = Patience::until_interrupted)
      : m_folder(std::move(folder)), m_patience(patience) {}
  [[nodiscard]] static GitFolder patient(const std::filesystem::path& folder) {
    return GitFolder(folder, Patience::to_the_end);
  }

  // Whether the folder is the top of a repository's files (not a subfolder).
  [[nodiscard]] static bool is_one(const std::filesystem::path& folder);
  // Throws Error when the folder may be one, but this user has no permission, or git does not trust its owner.
  static void refuse_locked(const std::filesystem::path& folder);

  [[nodiscard]] const std::filesystem::path& folder() const { return m_folder; }
  // Its git folder; absolute.
  [[nodiscard]] std::filesystem::path git_folder() const;

  // Returns any result; throws Error only when interrupted.
  [[nodiscard]] sys::Captured run(const std::vector<std::string>& arguments, const GitMore& more = {}) const;
  // Its output without the last line end; throws Error with git's message when it fails.
  std::string text(const std::vector<std::string>& arguments, const GitMore& more = {}) const;
  // NUL-separated names from its output.
  [[nodiscard]] std::vector<std::string> names(const std::vector<std::string>& arguments) const;

  // The commit that a name resolves to; nothing if there is none.
  [[nodiscard]] std::optional<std::string> commit(const std::string& name) const;
  [[nodiscard]] std::string head() const;
  // "refs/heads/x" while HEAD is a branch; "" when it is detached.
  [[nodiscard]] std::string branch() const;
  [[nodiscard]] std::string tree(const std::string& commit) const;
  // Tracked files that differ from HEAD, staged or not; without submodules and line ends that the user's git converts.
  [[nodiscard]] std::vector<std::string> changed_files() const;
  // Files that differ from a commit, whatever HEAD and the index say.
  [[nodiscard]] std::vector<std::string> changed_since(const std::string& commit) const;
  // Files that differ from HEAD only in such line ends get those of HEAD: otherwise git would refuse to switch.
  void drop_line_ends() const;
  // Without submodules.
  [[nodiscard]] std::vector<std::string> files_of(const std::string& commit) const;
  void tag(const std::string& name, const std::string& commit) const;
  void forget_tag(const std::string& name) const;

  // The submodules in .gitmodules of the files, and whether each exists. Paths that point outside are skipped.
  struct Module {
    std::string name, path;
    bool present = false;
  };
  [[nodiscard]] std::vector<Module> modules() const;

 private:
  // Options that give our git the user's line-end settings; none without such settings.
  [[nodiscard]] std::vector<std::string> line_ends() const;
  [[nodiscard]] std::vector<std::string> changed_by(std::vector<std::string> words) const;

  std::filesystem::path m_folder;
  Patience m_patience;
  mutable sys::Environment m_environment;  // of each git; made by the first one
};

// A repository of a checkout with its path below the root ("" for the root).
struct Part {
  std::string path;
  GitFolder git;
  std::string name{};  // of the submodule, in its parent
};
// The root and all existing submodules, parents before nested ones.
std::vector<Part> parts_of(const std::filesystem::path& root,
                           GitFolder::Patience patience = GitFolder::Patience::until_interrupted);

// "the root" or "submodule third_party/x", for messages.
std::string shown_part(const std::string& path);

}  // namespace wheelsmith::source
