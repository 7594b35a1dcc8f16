#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "document/value.h"

namespace wheelsmith::source {

// The state of each repository of a checkout before a move, recorded before anything moves, so that it can be restored:
// by this process after a failure, or by the next one after a kill.
class MoveJournal {
 public:
  struct Entry {
    enum class Kind { moved, removed, added } kind = Kind::moved;
    std::string path;
    std::filesystem::path git_folder;      // its history
    std::string branch, commit;            // HEAD before
    std::string worked;                    // the commit of its files, if different; otherwise ""
    std::string target;                    // the commit that its files move to; "" for removed ones
    std::string upstream_tag, hipify_tag;  // before; "" for none
    bool had_history = true;               // added: its history existed before
  };

  explicit MoveJournal(std::filesystem::path root) : m_root(std::move(root)) {}
  std::vector<Entry> entries;

  void write() const;
  void forget() const;
  // False when there is none.
  bool read();
  // Throws Error when a file has been edited since: it matches neither the old nor the new state.
  void refuse_edits() const;
  void undo() const;

 private:
  [[nodiscard]] std::filesystem::path file() const;
  void undo_files(const Entry& entry) const;
  // Also removes parent folders left empty.
  void remove_empty(std::filesystem::path folder) const;

  std::filesystem::path m_root;
};

// Connects a submodule's files and its history by relative paths, as git does.
void link_folders(const std::filesystem::path& files, const std::filesystem::path& history);
// For a history whose files are gone: git fails when its worktree does not exist.
void unlink_folders(const std::filesystem::path& history);
// Removes existing files, and folders left empty.
void remove_files(const std::filesystem::path& folder, const std::vector<std::string>& names);

}  // namespace wheelsmith::source
