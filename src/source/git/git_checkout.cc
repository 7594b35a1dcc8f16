// A checkout is an independent repository: packs are hard-linked from the store's repository (a link costs nothing and
// stays when the store drops its own), the commit is a detached HEAD, and there is at most the one requested tag, so
// that tools which derive a version from tags see the right one. Submodules are laid out as git itself does today
// (.git/modules/NAME, and a file .git with a relative path), so that all git commands work and the folder may be moved.
// They are fetched four at a time, one level of nesting after another.

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "fetch/fetch.h"
#include "source/folder/folder_writer.h"
#include "source/git/commit_fetch.h"
#include "source/git/repositories.h"
#include "source/git/submodules.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

constexpr unsigned k_at_a_time = 4;
constexpr int k_deepest = 10;

// As a value in git's configuration.
std::string git_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') throw Error("a name contains a line break");
    result += c;
  }
  return result + '"';
}

void append(const fs::path& file, const std::string& text) { sys::write_file(file, sys::read_file(file) + text); }

// One repository of the checkout.
struct Piece {
  GitTree tree;
  std::string path;  // in the checkout; "": the top
  fs::path git_folder, folder;
};

// The objects and the list of commits whose parents are missing.
void bring_objects(const fs::path& repository, const fs::path& git_folder) {
  sys::remove_tree(git_folder / "objects");
  sys::copy_tree(repository / "objects", git_folder / "objects", true);
  std::error_code ignored;
  if (fs::exists(repository / "shallow", ignored)) sys::copy_file(repository / "shallow", git_folder / "shallow");
}

std::string origin_of(const std::string& url) {
  return fmt::format("[remote \"origin\"]\n\turl = {}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
                     git_quoted(fetch::without_credentials(url)));
}

void make_repository(const GitCommand& git, const Piece& piece) {
  constexpr std::string_view k_failed = "cannot create a repository";
  if (piece.path.empty()) {
    (void)git.output({"init", "-q", "--template=", piece.folder.string()}, piece.folder, k_failed);
    append(piece.git_folder / "config", origin_of(piece.tree.url));
    return;
  }
  sys::make_folders(piece.git_folder);
  (void)git.output({"init", "-q", "--bare", "--template=", piece.git_folder.string()}, piece.git_folder, k_failed);
  const fs::path files = piece.folder.lexically_relative(piece.git_folder);
  sys::write_file(
      piece.git_folder / "config",
      "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"
      "\tworktree = " +
          git_quoted(files.string()) + "\n" + origin_of(piece.tree.url));
  sys::write_file(piece.folder / ".git",
                  "gitdir: " + piece.git_folder.lexically_relative(piece.folder).string() + "\n");
}

void fill(const GitCommand& git, const Piece& piece, const fs::path& repository) {
  make_repository(git, piece);
  bring_objects(repository, piece.git_folder);
  const GitTree& tree = piece.tree;
  if (!tree.tag.empty()) {
    // The tag's own object, if it still points to this commit.
    const sys::Captured own = git.run({"rev-parse", "-q", "--verify", tag_ref(tree.tag)}, repository);
    const sys::Captured target = git.run({"rev-parse", "-q", "--verify", tag_ref(tree.tag) + "^{commit}"}, repository);
    const bool same = own.exit.good() && target.exit.good() && trim(target.output) == tree.commit;
    (void)git.output({"update-ref", "refs/tags/" + tree.tag, same ? std::string(trim(own.output)) : tree.commit},
                     piece.folder, fmt::format("cannot create the tag {}", printable(tree.tag)));
  }
  (void)git.output(
      {"checkout", "-q", "--detach", tree.commit, "--"}, piece.folder,
      fmt::format("{}: cannot check out {}", printable(fetch::without_credentials(tree.url)), tree.commit));
}

void register_submodules(const Piece& parent, const std::vector<Submodule>& taken) {
  if (taken.empty()) return;
  std::string text;
  for (const Submodule& one : taken) {
    text += fmt::format("[submodule {}]\n\tactive = true\n\turl = {}\n", git_quoted(one.name),
                        git_quoted(fetch::without_credentials(one.url)));
  }
  append(parent.git_folder / "config", text);
}

// The checkout created it as an empty folder; anything else was not created by git.
void check_empty_folder(const fs::path& top, const std::string& path) {
  fs::path at = top;
  std::error_code failed;
  for (const std::string_view part : split(path, '/')) {
    at /= part;
    if (fs::symlink_status(at, failed).type() != fs::file_type::directory)
      throw Error(fmt::format("the submodule {} is not a folder", printable(path)));
  }
  if (!fs::is_empty(at, failed)) throw Error(fmt::format("the submodule {} is not empty", printable(path)));
}

void check_links(const fs::path& folder) {
  for (const sys::TreeFile& file : sys::list_tree(folder, {".git"})) {
    if (!file.link || link_stays_inside(file.name, file.link_target)) continue;
    throw Error(
        fmt::format("{} is a link to {}, outside the repository", printable(file.name), printable(file.link_target)));
  }
}

}  // namespace

std::vector<Submodule> Repositories::submodules(const std::string& url, const std::string& commit) {
  std::vector<Submodule> found;
  with(url, commit, "", [&](const fs::path& repository) { found = read_submodules(m_git, repository, url, commit); });
  return found;
}

void Repositories::checkout(const GitTree& tree, const fs::path& folder) {
  const fs::path top = fs::absolute(folder / "").lexically_normal().parent_path();
  sys::make_folders(top);
  WantedFolders wanted(tree.submodules);
  std::vector<Piece> level = {{tree, "", top / ".git", top}};
  for (int depth = 0; !level.empty(); ++depth) {
    if (depth > k_deepest) throw Error(fmt::format("submodules are nested more than {} deep", k_deepest));
    std::vector<std::vector<Submodule>> below(level.size());
    const auto one = [&](std::size_t i) {
      const Piece& piece = level[i];
      const std::string ref = piece.tree.tag.empty() ? piece.tree.ref : "refs/tags/" + piece.tree.tag;
      with(piece.tree.url, piece.tree.commit, ref, [&](const fs::path& repository) {
        fill(m_git, piece, repository);
        below[i] = read_submodules(m_git, repository, piece.tree.url, piece.tree.commit);
      });
    };
    parallel_for(level.size(), k_at_a_time, [&](std::size_t i) {
      try {
        one(i);
      } catch (const Error& error) {
        if (level[i].path.empty()) throw;
        const std::string why = error.what();
        const bool told = why.find("[mirrors]") != std::string::npos;
        throw Error(fmt::format("the submodule {} of {} needs commit {}: {}{}", printable(level[i].path),
                                printable(fetch::without_credentials(tree.url)), level[i].tree.commit, why,
                                told ? "" : "; add a repository that has it to [mirrors]"));
      }
    });
    std::vector<Piece> next;
    for (std::size_t i = 0; i < level.size(); ++i) {
      const std::string prefix = level[i].path.empty() ? "" : level[i].path + "/";
      std::erase_if(below[i], [&](const Submodule& module) { return !wanted.takes(prefix + module.path); });
      register_submodules(level[i], below[i]);
      for (const Submodule& module : below[i]) {
        check_empty_folder(top, prefix + module.path);
        next.push_back({{module.url, module.commit, "", "", {}},
                        prefix + module.path,
                        level[i].git_folder / "modules" / module.name,
                        level[i].folder / module.path});
      }
    }
    wanted.check(false);
    level = std::move(next);
  }
  wanted.check(true);
  check_links(top);
}

}  // namespace wheelsmith::source
