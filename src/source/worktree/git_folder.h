#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sys/process/process.h"

namespace wheelsmith::source {

// What a command gets besides its words.
struct GitMore {
  std::map<std::string, std::string> variables{};
  std::string input{};
};

// One repository with files in a folder of the user: the root of a checkout, or one of its submodules. Hooks, the
// user's own settings and prompts are kept out, and commits that we make always have the same author, so that the same
// checkout has the same commits everywhere.
class GitFolder {
 public:
  // to_the_end: its commands go on when the user interrupts (what is being moved must arrive, or be put back).
  enum class Patience { until_interrupted, to_the_end };
  explicit GitFolder(std::filesystem::path folder, Patience patience = Patience::until_interrupted)
      : m_folder(std::move(folder)), m_patience(patience) {}
  [[nodiscard]] static GitFolder patient(const std::filesystem::path& folder) {
    return GitFolder(folder, Patience::to_the_end);
  }

  // Whether the folder is the top of a repository's files (not somewhere below it).
  [[nodiscard]] static bool is_one(const std::filesystem::path& folder);
  // Throws Error when the folder may be one, but this user may not look, or git does not trust its owner.
  static void refuse_locked(const std::filesystem::path& folder);

  [[nodiscard]] const std::filesystem::path& folder() const { return m_folder; }
  // Where its history is; absolute.
  [[nodiscard]] std::filesystem::path git_folder() const;

  // Whatever it says; throws Error only when it was interrupted.
  [[nodiscard]] sys::Captured run(const std::vector<std::string>& arguments, const GitMore& more = {}) const;
  // What it printed without the last line's end; an Error in git's words when it fails.
  std::string text(const std::vector<std::string>& arguments, const GitMore& more = {}) const;
  // NUL-separated names that it printed.
  [[nodiscard]] std::vector<std::string> names(const std::vector<std::string>& arguments) const;

  // The commit that a name stands for; nothing where there is none.
  [[nodiscard]] std::optional<std::string> commit(const std::string& name) const;
  [[nodiscard]] std::string head() const;
  // "refs/heads/x" while HEAD is a branch; "" when it is detached.
  [[nodiscard]] std::string branch() const;
  [[nodiscard]] std::string tree(const std::string& commit) const;
  // Tracked files that are not as HEAD has them, whether staged or not; submodules do not count, nor do line ends that
  // the user's git makes and takes away.
  [[nodiscard]] std::vector<std::string> changed_files() const;
  // Files of a commit that are not as it has them, whatever HEAD and the index say.
  [[nodiscard]] std::vector<std::string> changed_since(const std::string& commit) const;
  // Files that differ from HEAD in nothing but such line ends get those of HEAD: git would not move away from them.
  void drop_line_ends() const;
  // Without submodules.
  [[nodiscard]] std::vector<std::string> files_of(const std::string& commit) const;
  void tag(const std::string& name, const std::string& commit) const;
  void forget_tag(const std::string& name) const;

  // What .gitmodules of the files says, and whether each is there. Paths that lead out are left out.
  struct Module {
    std::string name, path;
    bool present = false;
  };
  [[nodiscard]] std::vector<Module> modules() const;

 private:
  // Words that give our git the line ends of the user's; none where he has no such setting.
  [[nodiscard]] std::vector<std::string> line_ends() const;
  [[nodiscard]] std::vector<std::string> changed_by(std::vector<std::string> words) const;

  std::filesystem::path m_folder;
  Patience m_patience;
};

// A repository of a checkout with its path below the root ("" for the root).
struct Part {
  std::string path;
  GitFolder git;
  std::string name{};  // of the submodule, in its parent
};
// The root and all submodules that are there, each before those inside it.
std::vector<Part> parts_of(const std::filesystem::path& root,
                           GitFolder::Patience patience = GitFolder::Patience::until_interrupted);

// "the root" or "submodule third_party/x", for messages.
std::string shown_part(const std::string& path);

}  // namespace wheelsmith::source
