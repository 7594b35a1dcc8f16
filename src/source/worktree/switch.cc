// Moves a user's working folder to a new state. Everything that could fail has been done in the staged folder; here its
// commits are transferred, and each repository switches to its own. First everything is checked (would a user's file be
// overwritten? which commits would become unreachable?), then the journal is written, then things move, and failures
// are undone from the journal.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "source/worktree/move_journal.h"
#include "source/worktree/work_tree.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/process.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

std::string tag_of(const GitFolder& git, const std::string& name) {
  return git.commit("refs/tags/" + name).value_or("");
}

std::string parent_of(const std::string& path, const WorkState& state) {
  std::string best;
  for (const PartState& part : state.parts) {
    if (path.starts_with(part.path + "/") && part.path.size() > best.size()) best = part.path;
  }
  return best;
}

class Mover {
 public:
  Mover(const fs::path& root, const fs::path& staged, const WorkState& state, std::vector<std::string>& notes)
      : m_root(root),
        m_staged(staged),
        m_state(state),
        m_notes(notes),
        m_old(parts_of(root, GitFolder::Patience::to_the_end)),
        m_journal(root) {
    m_before = read_work_state(root);
  }

  void move() {
    if (std::any_of(m_old.begin(), m_old.end(), [&](const Part& part) {
          return !part.path.empty() && fs::is_directory(fs::symlink_status(part.git.folder() / ".git"));
        }))
      m_old.front().git.text({"submodule", "absorbgitdirs"});
    look();
    if (sys::interrupted()) throw Error("interrupted");
    m_journal.write();
    try {
      save_commits();
      act();
      verify();
      write_work_state(m_old.front().git.git_folder(), m_state);
    } catch (const std::exception&) {
      m_journal.undo();
      throw;
    }
    m_journal.forget();
  }

 private:
  using Entry = MoveJournal::Entry;

  [[nodiscard]] const Part* old_part(const std::string& path) const {
    const auto found = std::find_if(m_old.begin(), m_old.end(), [&](const Part& part) { return part.path == path; });
    return found == m_old.end() ? nullptr : &*found;
  }

  Entry entry_of(const Part& part) {
    Entry entry;
    entry.path = part.path;
    entry.git_folder = part.git.git_folder();
    entry.branch = part.git.branch();
    entry.commit = part.git.head();
    const PartState* before = m_before ? m_before->part(part.path) : nullptr;
    if (before != nullptr && !before->worked.empty() && part.git.changed_since(before->worked).empty())
      entry.worked = before->worked;
    entry.upstream_tag = tag_of(part.git, k_upstream_tag);
    entry.hipify_tag = tag_of(part.git, k_hipify_tag);
    return entry;
  }

  static std::string target_of(const PartState& part) { return part.worked.empty() ? part.made : part.worked; }

  void bring_commits(const GitFolder& git, const PartState& part) const {
    std::vector<std::string> fetch = {"fetch",
                                      "-q",
                                      "--no-tags",
                                      "--update-shallow",
                                      "--no-recurse-submodules",
                                      "--no-write-fetch-head",
                                      "--",
                                      (m_staged / part.path).string(),
                                      "HEAD",
                                      std::string("refs/tags/") + k_upstream_tag};
    const GitFolder staged = GitFolder::patient(m_staged / part.path);
    for (const char* ref : {"refs/tags/WHEELSMITH_HIPIFY", "refs/wheelsmith/worked"}) {
      if (staged.commit(ref)) fetch.emplace_back(ref);
    }
    git.text(fetch);
    if (!git.commit(target_of(part))) throw Error("the commits of the new state were not transferred");
  }

  // Files that would be overwritten although only the user has them.
  void look_for_losses(const std::string& path, const std::set<std::string>& before,
                       const std::vector<std::string>& after, std::vector<std::string>& lost) const {
    const fs::path folder = m_root / path;
    const auto shown = [&](const std::string& name) { return printable(path.empty() ? name : path + "/" + name); };
    std::error_code ignored;
    for (const std::string& name : after) {
      if (before.contains(name)) continue;
      for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
        const std::string above = name.substr(0, slash);
        const fs::file_status status = fs::symlink_status(folder / above, ignored);
        if (fs::exists(status) && !fs::is_directory(status) && !before.contains(above)) lost.push_back(shown(above));
      }
      const fs::file_status status = fs::symlink_status(folder / name, ignored);
      if (fs::is_directory(status)) {
        for (const sys::TreeFile& file : sys::list_tree(folder / name)) {
          if (!before.contains(name + "/" + file.name)) lost.push_back(shown(name + "/" + file.name));
        }
      } else if (fs::exists(status)) {
        lost.push_back(shown(name));
      }
    }
  }

  void look() {
    std::vector<std::string> lost;
    for (const Part& part : m_old) {
      Entry entry = entry_of(part);
      const PartState* wanted = m_state.part(part.path);
      if (wanted == nullptr) {
        entry.kind = Entry::Kind::removed;
      } else {
        entry.target = target_of(*wanted);
        bring_commits(part.git, *wanted);
        const std::vector<std::string> before = part.git.files_of(entry.worked.empty() ? entry.commit : entry.worked);
        look_for_losses(part.path, {before.begin(), before.end()}, part.git.files_of(entry.target), lost);
      }
      m_journal.entries.push_back(std::move(entry));
    }
    for (const PartState& wanted : m_state.parts) {
      if (old_part(wanted.path) != nullptr) continue;
      const std::string parent = parent_of(wanted.path, m_state);
      if (old_part(parent) == nullptr) continue;  // moves with its parent
      Entry entry;
      entry.kind = Entry::Kind::added;
      entry.path = wanted.path;
      entry.git_folder = old_part(parent)->git.git_folder() / "modules" / wanted.name;
      entry.target = target_of(wanted);
      std::error_code ignored;
      entry.had_history = fs::exists(entry.git_folder, ignored);
      if (entry.had_history)
        entry.commit = old_part("")->git.text(  // its files may be gone
            {"--git-dir", entry.git_folder.string(), "--work-tree", m_root.string(), "rev-parse", "HEAD"});
      const Part& above = *old_part(parent);
      const std::vector<std::string> tracked = above.git.files_of("HEAD");
      const std::set<std::string> before(tracked.begin(), tracked.end());
      const std::string below = parent.empty() ? wanted.path : wanted.path.substr(parent.size() + 1);
      look_for_losses(parent, before, {below}, lost);
      m_journal.entries.push_back(std::move(entry));
    }
    std::sort(lost.begin(), lost.end());
    lost.erase(std::unique(lost.begin(), lost.end()), lost.end());
    if (!lost.empty())
      throw Error(fmt::format("files of yours in {} would be overwritten by {}: {}; move them away and try again",
                              printable(m_root.string()), printable(m_state.ref), list_of(lost)));
  }

  static std::string list_of(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < 10; ++i) text += (i > 0 ? ", " : "") + names[i];
    if (names.size() > 10) text += fmt::format(" and {} more", names.size() - 10);
    return text;
  }

  // Commits that no branch, tag or remote would keep once HEAD leaves them.
  void save_commits() {
    for (const Part& part : m_old) {
      const std::string head = part.git.head();
      const PartState* before = m_before ? m_before->part(part.path) : nullptr;
      if (before != nullptr && before->made == head) continue;
      if (!part.git.branch().empty()) {
        m_notes.push_back(fmt::format("your branch {} of {} is unchanged", printable(part.git.branch().substr(11)),
                                      shown_part(part.path)));
        continue;
      }
      if (!part.git.text({"for-each-ref", "--count=1", "--contains", head, "refs/heads", "refs/remotes", "refs/tags"})
               .empty())
        continue;
      int number = 1;
      const auto name = [&] { return fmt::format("wheelsmith/saved-{}", number); };
      while (part.git.commit("refs/heads/" + name())) ++number;
      part.git.text({"update-ref", "refs/heads/" + name(), head});
      m_notes.push_back(fmt::format("your commits in {} are kept as branch {} ({})", shown_part(part.path), name(),
                                    head.substr(0, 12)));
    }
  }

  void act() {
    for (auto entry = m_journal.entries.rbegin(); entry != m_journal.entries.rend(); ++entry) {
      if (entry->kind == Entry::Kind::removed) take_away(*entry);
    }
    for (const Entry& entry : m_journal.entries) {
      if (entry.kind == Entry::Kind::moved) go(entry);
    }
    for (const Entry& entry : m_journal.entries) {
      if (entry.kind == Entry::Kind::added) add(entry);
    }
    for (const PartState& part : m_state.parts) mark(part);
    const GitFolder root = GitFolder::patient(m_root);
    root.text({"config", "remote.origin.url", m_state.origin});
    const GitFolder staged = GitFolder::patient(m_staged);
    for (const std::string space : {"refs/tags/", "refs/remotes/origin/"}) {
      const std::string all = staged.text({"for-each-ref", "--format=%(refname) %(objectname)", space});
      for (const std::string_view name : lines(all)) {
        const std::size_t blank = name.find(' ');
        const std::string ref(name.substr(0, blank));
        if (ref.starts_with("refs/tags/WHEELSMITH_")) continue;
        root.text({"fetch", "-q", "--no-tags", "--update-shallow", "--no-recurse-submodules", "--no-write-fetch-head",
                   "--", m_staged.string(), "+" + ref + ":" + ref});
      }
    }
  }

  // git may report success although it could not write a file.
  void verify() const {
    std::vector<std::string> wrong;
    for (const PartState& part : m_state.parts) {
      const GitFolder git = GitFolder::patient(m_root / part.path);
      if (git.head() != part.made)
        throw Error(fmt::format("{} was not moved to {}", shown_part(part.path), part.made.substr(0, 12)));
      for (const std::string& name : part.worked.empty() ? git.changed_files() : git.changed_since(part.worked))
        wrong.push_back(printable(part.path.empty() ? name : part.path + "/" + name));
    }
    if (!wrong.empty())
      throw Error(fmt::format("cannot move {} to {}: cannot write {}; nothing was changed", printable(m_root.string()),
                              printable(m_state.ref), list_of(wrong)));
  }

  void take_away(const Entry& entry) const {
    const fs::path folder = m_root / entry.path;
    const GitFolder git = GitFolder::patient(folder);
    remove_files(folder, git.files_of(entry.worked.empty() ? entry.commit : entry.worked));
    fs::remove(folder / ".git");
    unlink_folders(entry.git_folder);
    std::error_code ignored;
    // Unless it contains files of the user.
    for (fs::path empty = folder; empty != m_root && fs::remove(empty, ignored);) empty = empty.parent_path();
  }

  void go(const Entry& entry) const {
    const GitFolder git = GitFolder::patient(m_root / entry.path);
    if (!entry.worked.empty()) {
      git.text({"update-ref", "--no-deref", "HEAD", entry.worked});
      git.text({"reset", "-q"});
    }
    git.drop_line_ends();
    git.text({"checkout", "-q", "--no-overwrite-ignore", "--detach", entry.target});
    const PartState& wanted = *m_state.part(entry.path);
    if (!wanted.worked.empty()) git.text({"reset", "-q", "--mixed", wanted.made});
  }

  void add(const Entry& entry) const {
    const fs::path folder = m_root / entry.path;
    const PartState& wanted = *m_state.part(entry.path);
    if (!entry.had_history) {
      std::error_code ignored;
      sys::make_folders(entry.git_folder.parent_path());
      fs::rename(GitFolder::patient(m_staged / entry.path).git_folder(), entry.git_folder);
      fs::remove(folder, ignored);
      sys::make_folders(folder.parent_path());
      fs::rename(m_staged / entry.path, folder);
      link_folders(folder, entry.git_folder);
      return;
    }
    sys::make_folders(folder);
    link_folders(folder, entry.git_folder);
    const GitFolder git = GitFolder::patient(folder);
    bring_commits(git, wanted);
    git.text({"update-ref", "--no-deref", "HEAD", entry.target});
    git.text({"reset", "-q", "--hard"});
    if (!wanted.worked.empty()) git.text({"reset", "-q", "--mixed", wanted.made});
    // Nested submodules come as they were staged.
    for (const PartState& inner : m_state.parts) {
      if (!inner.path.starts_with(entry.path + "/") || parent_of(inner.path, m_state) != entry.path) continue;
      Entry nested;
      nested.kind = Entry::Kind::added;
      nested.path = inner.path;
      nested.git_folder = git.git_folder() / "modules" / inner.name;
      nested.target = target_of(inner);
      nested.had_history = fs::exists(nested.git_folder);
      add(nested);
    }
  }

  void mark(const PartState& part) const {
    const GitFolder git = GitFolder::patient(m_root / part.path);
    hide_submodules(git);
    git.tag(k_upstream_tag, part.upstream);
    const GitFolder staged = GitFolder::patient(m_staged / part.path);
    if (fs::exists(m_staged / part.path / ".git")) {
      if (const auto hipify = staged.commit(std::string("refs/tags/") + k_hipify_tag))
        git.tag(k_hipify_tag, *hipify);
      else
        git.forget_tag(k_hipify_tag);
    }
    if (!part.worked.empty()) git.text({"update-ref", "refs/wheelsmith/worked", part.worked});
    for (const PartState& inner : m_state.parts) {
      if (inner.path.empty() || inner.path == part.path || parent_of(inner.path, m_state) != part.path) continue;
      const std::string url = GitFolder::patient(m_root / inner.path).run({"config", "remote.origin.url"}).output;
      const std::string key = "submodule." + inner.name;
      git.text({"config", key + ".active", "true"});
      if (!trim(url).empty()) git.text({"config", key + ".url", std::string(trim(url))});
    }
  }

  const fs::path& m_root;
  const fs::path& m_staged;
  const WorkState& m_state;
  std::vector<std::string>& m_notes;
  std::vector<Part> m_old;
  std::optional<WorkState> m_before;
  MoveJournal m_journal;
};

}  // namespace

void switch_to(const fs::path& root, const fs::path& staged, const WorkState& state, std::vector<std::string>& notes) {
  Mover(root, staged, state, notes).move();
}

void recover(const fs::path& root) {
  MoveJournal journal(root);
  if (!journal.read()) return;
  journal.refuse_edits();
  journal.undo();
}

}  // namespace wheelsmith::source
