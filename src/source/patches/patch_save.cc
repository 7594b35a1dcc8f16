// Turns commits into patches. The bytes must not depend on the writer: no commit ids, no git version, no user settings.
// The patches are applied again in a temporary index, and only when that gives the same trees does anything on disk
// change; otherwise a merge, or a message that reads like a diff, would be lost silently.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "source/git/git_command.h"
#include "source/patches/patch_set.h"
#include "source/worktree/work_tree.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

struct Series {
  std::string part;
  bool hipified = false;
  std::vector<std::pair<std::string, std::string>> patches;  // name, text
};

bool is_ancestor(const GitFolder& git, const std::string& older, const std::string& newer) {
  return git.run({"merge-base", "--is-ancestor", older, newer}).exit.good();
}

// Non-empty lines without trailing blanks: all that `git am` keeps of a message.
std::vector<std::string> said(std::string_view text) {
  std::vector<std::string> result;
  for (const std::string_view line : lines(text)) {
    const std::size_t end = line.find_last_not_of(" \t\r");
    if (end != std::string_view::npos) result.emplace_back(line.substr(0, end + 1));
  }
  return result;
}

// Mails cannot represent every message: "[PATCH] x" becomes x, and a line that begins with "---" ends the text.
void check_message(const Part& part, const std::string& commit, const std::string& mail, const fs::path& place) {
  const std::string subject = part.git.text({"log", "-1", "--encoding=UTF-8", "--format=%s", commit});
  const std::string body = part.git.text({"log", "-1", "--encoding=UTF-8", "--format=%b", commit});
  const std::string head = part.git.text({"-c", "mailinfo.scissors=false", "mailinfo", "-b", "--encoding=UTF-8",
                                          (place / "message").string(), (place / "diff").string()},
                                         {.input = mail});
  std::string told;
  for (const std::string_view line : lines(head)) {
    if (line.starts_with("Subject: ")) told = line.substr(9);
  }
  const bool same_subject = said(told) == said(subject);
  if (same_subject && said(sys::read_file(place / "message")) == said(body)) return;
  throw Error(
      fmt::format("{}: a patch would lose part of the {} of commit {} \"{}\" ({}); reword it with "
                  "`git rebase -i`; nothing was written",
                  shown_part(part.path), same_subject ? "message" : "subject", commit.substr(0, 12), printable(subject),
                  same_subject ? "a line looks like the start of a diff or a mail" : "a leading [PATCH] is removed"));
}

void refuse_empty(const Part& part, const std::vector<std::string>& commits) {
  for (const std::string& commit : commits) {
    if (part.git.tree(commit) != part.git.tree(commit + "^")) continue;
    throw Error(fmt::format(
        "{}: commit {} \"{}\" is empty: it changes no file and cannot become a patch; drop it with "
        "`git rebase -i`; nothing was written",
        shown_part(part.path), commit.substr(0, 12), printable(part.git.text({"log", "-1", "--format=%s", commit}))));
  }
}

Series format_range(const Part& part, const std::string& from, const std::string& to, bool hipified) {
  Series series{.part = part.path, .hipified = hipified, .patches = {}};
  const sys::TempDir place;
  const std::string listed = part.git.text({"rev-list", "--reverse", "--max-parents=1", from + ".." + to});
  std::vector<std::string> commits;
  for (const std::string_view line : lines(listed)) {
    if (!line.empty()) commits.emplace_back(line);
  }
  refuse_empty(part, commits);
  part.git.text({"-c",
                 "diff.noprefix=false",
                 "-c",
                 "diff.mnemonicPrefix=false",
                 "-c",
                 "diff.orderFile=/dev/null",
                 "-c",
                 "i18n.logOutputEncoding=UTF-8",
                 "format-patch",
                 "-q",
                 "--zero-commit",
                 "--no-signature",
                 "--no-numbered",
                 "-p",
                 "--no-renames",
                 "--no-ext-diff",
                 "--no-textconv",
                 "--no-attach",
                 "--no-thread",
                 "--no-cover-letter",
                 "--no-base",
                 "--diff-algorithm=myers",
                 "-U3",
                 "--inter-hunk-context=0",
                 "--full-index",
                 "--binary",
                 "--submodule=short",
                 "--ignore-submodules=none",
                 "-o",
                 place.path().string(),
                 from + ".." + to});
  for (const sys::TreeFile& file : sys::list_tree(place.path()))
    series.patches.emplace_back(file.name, sys::read_file(place.path() / file.name));
  // Apply them again.
  const GitMore with_index{.variables = {{"GIT_INDEX_FILE", (place.path() / "index").string()}}};
  part.git.text({"read-tree", from}, with_index);
  for (const auto& [name, text] : series.patches) {
    GitMore more = with_index;
    more.input = text;
    if (!part.git.run({"apply", "--cached", "--whitespace=nowarn", "-"}, more).exit.good())
      throw Error(
          fmt::format("{}: the commit of {} cannot be written as a patch that applies again (is there a merge "
                      "among the commits, or a diff in its message?); nothing was written",
                      shown_part(part.path), printable(name)));
  }
  if (part.git.text({"write-tree"}, with_index) != part.git.tree(to))
    throw Error(
        fmt::format("{}: the commits since {} cannot be written as patches that give the same tree (is there a "
                    "merge among them? `git rebase` linearizes them); nothing was written",
                    shown_part(part.path), from.substr(0, 12)));
  if (commits.size() != series.patches.size())
    throw Error(fmt::format("{}: {} commits gave {} patches; nothing was written", shown_part(part.path),
                            commits.size(), series.patches.size()));
  for (std::size_t i = 0; i < commits.size(); ++i)
    check_message(part, commits[i], series.patches[i].second, place.path());
  return series;
}

std::vector<Series> series_of(const Part& part) {
  const std::optional<std::string> upstream = part.git.commit(std::string("refs/tags/") + k_upstream_tag);
  if (!upstream) return {};
  const std::string head = part.git.head();
  const std::optional<std::string> hipify = part.git.commit(std::string("refs/tags/") + k_hipify_tag);
  if (!is_ancestor(part.git, *upstream, head) || (hipify && !is_ancestor(part.git, *hipify, head)))
    throw Error(fmt::format(
        "{}: HEAD is not based on {}, so there are no commits to save; `git rebase "
        "--onto {}` moves them there",
        shown_part(part.path), hipify ? k_hipify_tag : k_upstream_tag, hipify ? k_hipify_tag : k_upstream_tag));
  if (!hipify) return {format_range(part, *upstream, head, false), Series{part.path, true, {}}};
  const bool own_commit = part.git.text({"log", "-1", "--format=%s", *hipify}) == k_hipify_subject;
  const std::string before = own_commit ? part.git.commit(*hipify + "^").value_or(*upstream) : *hipify;
  return {format_range(part, *upstream, before, false), format_range(part, *hipify, head, true)};
}

void remove_empty_folders(fs::path folder, const fs::path& end) {
  std::error_code ignored;
  while (folder != end && folder.has_relative_path() && fs::remove(folder, ignored)) folder = folder.parent_path();
}

// HEAD is now exactly the set's result: a checkout with the same set finds everything in place.
void note_patches(const fs::path& root, const PatchSet& set) {
  std::optional<WorkState> state = read_work_state(root);
  if (!state) return;
  state->patchset = set.name();
  state->patches.clear();
  for (const PatchFile& patch : set.files())
    state->patches.push_back({patch.part, patch.name, patch.sha256, patch.hipified});
  for (PartState& part : state->parts) {
    if (part.worked.empty()) part.made = GitFolder(root / part.path).head();
  }
  write_work_state(GitFolder(root).git_folder(), *state);
}

}  // namespace

SavedPatches save_patches(const fs::path& root, const PatchSet& set) {
  const std::vector<Part> parts = parts_of(root);
  if (!parts.front().git.commit(std::string("refs/tags/") + k_upstream_tag))
    throw Error(fmt::format("{} has no tag {}: it was not made by `wheelsmith checkout`", printable(root.string()),
                            k_upstream_tag));
  refuse_changes(root, "commit them first: only commits become patches");
  std::vector<Series> all;
  for (const Part& part : parts) {
    for (Series& series : series_of(part)) all.push_back(std::move(series));
  }
  SavedPatches result;
  for (const Series& series : all) {
    const fs::path folder = set.folder_of(series.part, series.hipified);
    std::set<std::string> wanted;
    for (const auto& [name, text] : series.patches) {
      wanted.insert(name);
      const std::string shown = (folder / name).lexically_relative(set.folder()).string();
      if (sys::read_file_if_there(folder / name) == text) {
        result.kept.push_back(shown);
        continue;
      }
      sys::make_folders(folder);
      sys::write_file(folder / name, text);
      result.written.push_back(shown);
    }
    for (const PatchFile& old : set.files()) {
      if (old.part != series.part || old.hipified != series.hipified || wanted.contains(old.name)) continue;
      fs::remove(folder / old.name);
      result.removed.push_back((folder / old.name).lexically_relative(set.folder()).string());
    }
    remove_empty_folders(folder, set.folder().parent_path());
  }
  note_patches(root, PatchSet(set.name(), set.folder(), set.root_name()));
  return result;
}

std::vector<std::string> apply_set(const fs::path& root, const PatchSet& set) {
  const std::optional<WorkState> state = read_work_state(root);
  refuse_changes(root, "commit them first");
  std::vector<PatchFile> missing;
  for (const PatchFile& patch : set.files()) {
    const AppliedPatch as_applied{patch.part, patch.name, patch.sha256, patch.hipified};
    if (!state || std::find(state->patches.begin(), state->patches.end(), as_applied) == state->patches.end())
      missing.push_back(patch);
  }
  std::map<std::string, std::string> heads;
  for (const PatchFile& patch : missing) {
    if (!GitFolder::is_one(root / patch.part))
      throw Error(
          fmt::format("{} is not checked out, but {} is for it", shown_part(patch.part), printable(patch.name)));
    const GitFolder git(root / patch.part);
    const bool hipified = git.commit(std::string("refs/tags/") + k_hipify_tag).has_value();
    if (hipified && !patch.hipified)
      throw Error(
          fmt::format("base/{} must be applied before hipify, which is already committed here: run "
                      "`wheelsmith checkout` to recreate it",
                      printable(patch.name)));
    heads.emplace(patch.part, git.head());
  }
  std::vector<std::string> applied;
  try {
    for (const PatchFile& patch : missing) {
      apply_patch(GitFolder(root / patch.part), patch);
      applied.push_back((patch.part.empty() ? "" : patch.part + "/") + (patch.hipified ? "hipified/" : "base/") +
                        patch.name);
    }
  } catch (const std::exception&) {
    for (const auto& [part, head] : heads)
      GitFolder(root / part, GitFolder::Patience::to_the_end).text({"reset", "-q", "--keep", head});
    throw;
  }
  if (state) note_patches(root, set);
  return applied;
}

}  // namespace wheelsmith::source
