#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "document/value.h"

namespace wheelsmith::source {

// How each repository of a checkout was before a move, written down before anything moves, so that whoever comes next
// can put it back: this process after a failure, or the next one after a kill.
class MoveJournal {
 public:
  struct Entry {
    enum class Kind { moved, removed, added } kind = Kind::moved;
    std::string path;
    std::filesystem::path git_folder;      // its history
    std::string branch, commit;            // HEAD before
    std::string worked;                    // what its files were, where that is another commit; else ""
    std::string target;                    // the commit that its files are brought to; "" for removed ones
    std::string upstream_tag, hipify_tag;  // before; "" for none
    bool had_history = true;               // added: its history was there before
  };

  explicit MoveJournal(std::filesystem::path root) : m_root(std::move(root)) {}
  std::vector<Entry> entries;

  void write() const;
  void forget() const;
  // False when there is none.
  bool read();
  // Throws Error when a file has been edited since: it is neither of the state before nor of the one after.
  void refuse_edits() const;
  void undo() const;

 private:
  [[nodiscard]] std::filesystem::path file() const;
  void undo_files(const Entry& entry) const;
  // And folders above it that are empty then.
  void remove_empty(std::filesystem::path folder) const;

  std::filesystem::path m_root;
};

// Ties a submodule's files and its history together, by relative paths as git does.
void link_folders(const std::filesystem::path& files, const std::filesystem::path& history);
// A history whose files are gone: git goes nowhere with the name of a folder that is not there.
void unlink_folders(const std::filesystem::path& history);
// Removes files that are there, and folders that get empty by it.
void remove_files(const std::filesystem::path& folder, const std::vector<std::string>& names);

}  // namespace wheelsmith::source
