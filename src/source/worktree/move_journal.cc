#include "source/worktree/move_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "source/git/git_command.h"
#include "source/patches/patch_set.h"
#include "source/worktree/git_folder.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

using Entry = MoveJournal::Entry;

using document::Array;
using document::Table;
using document::Value;

std::string name_of(Entry::Kind kind) {
  return kind == Entry::Kind::moved ? "moved" : kind == Entry::Kind::removed ? "removed" : "added";
}

std::vector<std::string> difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const std::set<std::string> without(b.begin(), b.end());
  std::vector<std::string> result;
  std::copy_if(a.begin(), a.end(), std::back_inserter(result),
               [&](const std::string& name) { return !without.contains(name); });
  return result;
}

// A file that git was writing when it was killed is a prefix of the intended one.
bool begins(const GitFolder& git, const std::string& commit, const std::string& name, std::string_view content) {
  const sys::Captured blob = git.run({"cat-file", "blob", commit + ":" + name});
  return blob.exit.good() && std::string_view(blob.output).starts_with(content);
}

}  // namespace

void link_folders(const fs::path& files, const fs::path& history) {
  const fs::path real_files = fs::canonical(files);
  const fs::path real_history = fs::canonical(history);
  sys::write_file(files / ".git", "gitdir: " + real_history.lexically_relative(real_files).string() + "\n");
  const GitFolder git = GitFolder::patient(files.parent_path());
  git.text({"config", "-f", (real_history / "config").string(), "core.worktree",
            real_files.lexically_relative(real_history).string()});
}

void unlink_folders(const fs::path& history) {
  // Fails when there is none, which is fine.
  (void)GitFolder::patient(history.parent_path())
      .run({"config", "-f", (history / "config").string(), "--unset", "core.worktree"});
}

void remove_files(const fs::path& folder, const std::vector<std::string>& names) {
  std::error_code ignored;
  for (const std::string& name : names) {
    const fs::path path = folder / name;
    if (fs::is_directory(fs::symlink_status(path, ignored)) || !fs::remove(path, ignored)) continue;
    for (fs::path above = path.parent_path(); above != folder && fs::remove(above, ignored);)
      above = above.parent_path();
  }
}

void MoveJournal::remove_empty(fs::path folder) const {
  std::error_code ignored;
  while (folder != m_root && (!fs::exists(folder, ignored) || fs::remove(folder, ignored)))
    folder = folder.parent_path();
}

fs::path MoveJournal::file() const { return GitFolder::patient(m_root).git_folder() / "wheelsmith-move.json"; }

void MoveJournal::write() const {
  Array list;
  for (const Entry& entry : entries) {
    Table item;
    item["kind"] = name_of(entry.kind);
    item["path"] = entry.path;
    item["git"] = entry.git_folder.string();
    item["branch"] = entry.branch;
    item["commit"] = entry.commit;
    item["worked"] = entry.worked;
    item["target"] = entry.target;
    item["upstream"] = entry.upstream_tag;
    item["hipify"] = entry.hipify_tag;
    item["had_history"] = entry.had_history;
    list.emplace_back(std::move(item));
  }
  sys::write_file(file(), document::to_json(list));
}

void MoveJournal::forget() const { fs::remove(file()); }

bool MoveJournal::read() {
  const auto text = sys::read_file_if_there(file(), 64 << 20);
  if (!text) return false;
  const Value list = document::parse_json(*text, "wheelsmith-move.json");
  entries.clear();
  if (list.array() == nullptr) return true;
  for (const Value& item : *list.array()) {
    const std::string kind = item["kind"].text_or();
    entries.push_back({.kind = kind == "removed" ? Entry::Kind::removed
                               : kind == "added" ? Entry::Kind::added
                                                 : Entry::Kind::moved,
                       .path = item["path"].text_or(),
                       .git_folder = item["git"].text_or(),
                       .branch = item["branch"].text_or(),
                       .commit = item["commit"].text_or(),
                       .worked = item["worked"].text_or(),
                       .target = item["target"].text_or(),
                       .upstream_tag = item["upstream"].text_or(),
                       .hipify_tag = item["hipify"].text_or(),
                       .had_history = item["had_history"].boolean_or(true)});
  }
  return true;
}

void MoveJournal::refuse_edits() const {
  std::vector<std::string> edited;
  for (const Entry& entry : entries) {
    const fs::path folder = m_root / entry.path;
    if (entry.kind == Entry::Kind::removed || !GitFolder::is_one(folder)) continue;
    const GitFolder git = GitFolder::patient(folder);
    const bool added = entry.kind == Entry::Kind::added;
    const std::string old = added ? entry.target : entry.worked.empty() ? entry.commit : entry.worked;
    std::vector<std::string> names = difference(git.files_of(entry.target), git.files_of(old));
    if (added) names = git.names({"ls-files", "-z", "--others", "--exclude-standard"});
    for (const std::string& name : git.names(
             {"diff", "--name-only", "-z", "--ignore-submodules=all", "--no-renames", "--no-ext-diff", old, "--"}))
      names.push_back(name);
    for (const std::string& name : names) {
      const fs::path path = folder / name;
      std::error_code ignored;
      if (!fs::is_regular_file(fs::symlink_status(path, ignored))) continue;
      const std::string content = sys::read_file(path);
      if (!begins(git, old, name, content) && !begins(git, entry.target, name, content))
        edited.push_back(printable(entry.path.empty() ? name : entry.path + "/" + name));
    }
  }
  if (!edited.empty())
    throw Error(
        fmt::format("{} is in the middle of an interrupted move, and these files were edited since: {}. Copy them "
                    "elsewhere and remove them; then rerun the same command to restore the checkout",
                    printable(m_root.string()), join(edited, ", ")));
}

void MoveJournal::undo_files(const Entry& entry) const {
  const fs::path folder = m_root / entry.path;
  const GitFolder git = GitFolder::patient(folder);
  std::error_code ignored;
  fs::remove(entry.git_folder / "index.lock", ignored);
  fs::remove(entry.git_folder / "HEAD.lock", ignored);
  const std::string old = entry.worked.empty() ? entry.commit : entry.worked;
  // If the target never arrived, none of its files did.
  if (!entry.target.empty() && git.commit(entry.target))
    remove_files(folder, difference(git.files_of(entry.target), git.files_of(old)));
  git.text({"update-ref", "--no-deref", "HEAD", old});
  git.text({"reset", "-q", "--mixed"});  // unchanged files are not written; they may be read-only
  git.text({"reset", "-q", "--hard"});
  if (!entry.worked.empty()) git.text({"reset", "-q", "--mixed", entry.commit});
  if (!entry.branch.empty()) git.text({"symbolic-ref", "HEAD", entry.branch});
  for (const auto& [name, value] : {std::pair(k_upstream_tag, entry.upstream_tag), {k_hipify_tag, entry.hipify_tag}}) {
    if (value.empty())
      git.forget_tag(name);
    else
      git.tag(name, value);
  }
}

void MoveJournal::undo() const {
  std::error_code ignored;
  for (const Entry& entry : entries) {
    if (entry.kind != Entry::Kind::added) continue;
    const fs::path folder = m_root / entry.path;
    if (!entry.had_history) {
      sys::remove_tree(folder);
      sys::remove_tree(entry.git_folder);
    } else if (fs::exists(folder / ".git", ignored)) {
      std::vector<Part> parts = parts_of(folder, GitFolder::Patience::to_the_end);
      for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        const fs::path history = part->git.git_folder();
        fs::remove(history / "index.lock", ignored);
        remove_files(part->git.folder(), part->git.files_of("HEAD"));
        fs::remove(part->git.folder() / ".git", ignored);
        unlink_folders(history);
        remove_empty(part->git.folder());
      }
      sys::write_file(entry.git_folder / "HEAD", entry.commit + "\n");
    }
    remove_empty(folder);
  }
  for (const Entry& entry : entries) {
    if (entry.kind == Entry::Kind::moved) undo_files(entry);
  }
  for (const Entry& entry : entries) {
    if (entry.kind != Entry::Kind::removed) continue;
    sys::make_folders(m_root / entry.path);
    link_folders(m_root / entry.path, entry.git_folder);
    undo_files(entry);
  }
  forget();
}

}  // namespace wheelsmith::source
