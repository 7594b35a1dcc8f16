// `checkout` into a user's working folder. The order: examine the folder, prepare the new state in a hidden folder
// beside it, and take it over only when complete: by renaming into an empty place, or by moving each repository of an
// existing checkout.

#include "source/worktree/work_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "fetch/fetch.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

// A hidden folder beside the checkout, protected by the checkout's lock: remains of a killed run are removed first.
class Beside {
 public:
  explicit Beside(const fs::path& target)
      : m_path(target.parent_path() / ("." + target.filename().string() + ".wheelsmith-new")) {
    sys::make_folders(target.parent_path());
    sys::remove_tree(m_path);
    sys::make_folders(m_path);
  }
  ~Beside() {
    try {
      sys::remove_tree(m_path);
    } catch (const Error&) {  // the next run retries
    }
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  [[nodiscard]] const fs::path& path() const { return m_path; }

 private:
  fs::path m_path;
};

bool has_nothing(const fs::path& folder) {
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  return !error && entries == fs::directory_iterator();
}

// The target must be a checkout of the same project, or empty.
bool look_at_folder(const CheckoutRequest& request) {
  const fs::path& folder = request.folder;
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(folder, ignored))) return false;
  if (!sys::is_folder(folder)) throw Error(fmt::format("{} exists and is not a folder", printable(folder.string())));
  if (has_nothing(folder)) return false;
  GitFolder::refuse_locked(folder);
  if (!GitFolder::is_one(folder))
    throw Error(
        fmt::format("{} is not empty and not a git repository; it was not changed (choose another folder with --into)",
                    printable(folder.string())));
  recover(folder);
  if (const auto state = read_work_state(folder)) {
    if (state->recipe != request.recipe)
      throw Error(
          fmt::format("{} is a checkout of {}, not of {}; it was not changed (choose another folder with --into)",
                      printable(folder.string()), printable(state->recipe), printable(request.recipe)));
    return true;
  }
  const GitFolder git(folder);
  const std::string origin(trim(git.run({"config", "remote.origin.url"}).output));
  const auto plain = [](std::string url) {
    if (url.ends_with('/')) url.pop_back();
    if (url.ends_with(".git")) url.resize(url.size() - 4);
    return url;
  };
  if (plain(origin) != plain(request.origin))
    throw Error(fmt::format(
        "{} is a repository of {}, not of {}; it was not changed (choose another folder with --into)",
        printable(folder.string()), origin.empty() ? "something else" : printable(fetch::without_credentials(origin)),
        printable(fetch::without_credentials(request.origin))));
  return true;
}

// The user's commits on top of wheelsmith's, per part.
bool stands_on(const fs::path& root, const WorkState& state, std::vector<std::string>& notes) {
  bool all = true;
  for (const PartState& part : state.parts) {
    const fs::path folder = root / part.path;
    if (!GitFolder::is_one(folder)) return false;
    const GitFolder git(folder);
    const std::string head = git.head();
    if (head == part.made) continue;
    if (!git.run({"merge-base", "--is-ancestor", part.made, head}).exit.good()) {
      all = false;
      continue;
    }
    const std::string count = git.text({"rev-list", "--count", part.made + ".." + head});
    notes.push_back(
        fmt::format("{} commit{} of yours on top of {} kept", count, count == "1" ? "" : "s", shown_part(part.path)));
  }
  return all;
}

void add_trees(const fs::path& root, CheckoutResult& result) {
  for (const PartState& part : result.state.parts) {
    const GitFolder git(root / part.path);
    result.heads.push_back(git.head());
    result.trees.push_back(git.tree(part.worked.empty() ? "HEAD" : part.worked));
  }
}

}  // namespace

std::string_view to_string(CheckoutResult::Outcome outcome) {
  switch (outcome) {
    case CheckoutResult::Outcome::made: return "made";
    case CheckoutResult::Outcome::moved: return "moved";
    case CheckoutResult::Outcome::unchanged: return "unchanged";
    case CheckoutResult::Outcome::kept: return "kept";
    case CheckoutResult::Outcome::deepened: return "deepened";
  }
  return "";
}

void refuse_changes(const fs::path& root, const std::string& advice) {
  const std::optional<WorkState> state = read_work_state(root);
  std::vector<std::string> changed;
  for (const Part& part : parts_of(root)) {
    std::vector<std::string> files = part.git.changed_files();
    const PartState* before = state ? state->part(part.path) : nullptr;
    if (before != nullptr && !before->worked.empty()) {
      // Hipified files as we left them are not changes; edited ones are, even if git does not track them.
      const std::vector<std::string> since = part.git.changed_since(before->worked);
      if (since.empty() || part.git.head() == before->made) files = since;
    }
    for (const std::string& name : files) changed.push_back(part.path.empty() ? name : part.path + "/" + name);
  }
  if (changed.empty()) return;
  std::string list;
  for (std::size_t i = 0; i < changed.size() && i < 10; ++i) list += (i > 0 ? ", " : "") + printable(changed[i]);
  if (changed.size() > 10) list += fmt::format(" and {} more", changed.size() - 10);
  throw Error(fmt::format("{} has uncommitted changes: {}; {}", printable(root.string()), list, advice));
}

CheckoutResult check_out(const CheckoutRequest& given, Repositories& repositories, store::Store& store) {
  CheckoutRequest request = given;
  request.folder = fs::absolute(given.folder / "").lexically_normal().parent_path();
  const store::Lock lock = store.lock("checkout-" + store::slug(request.folder.string()));
  const bool there = look_at_folder(request);
  Commit found;
  if (request.commit.empty()) {
    found = repositories.resolve(request.origin, request.ref, !request.offline);
  } else {
    found.id = request.commit;
    found.ref_kind = RefKind::commit;
  }
  CheckoutResult result;
  if (there) {
    WorkState wanted;
    wanted.commit = found.id;
    wanted.origin = fetch::without_credentials(request.origin);
    wanted.submodules = request.submodules;
    wanted.hipify = request.hipify;
    wanted.commit_hipify = request.hipify.empty() || request.commit_hipify;
    for (const PatchFile& patch : request.patches.files())
      wanted.patches.push_back({patch.part, patch.name, patch.sha256, patch.hipified});
    const std::optional<WorkState> before = read_work_state(request.folder);
    if (before && before->same_request(wanted)) {
      if (stands_on(request.folder, *before, result.notes)) {
        result.outcome = result.notes.empty() ? CheckoutResult::Outcome::unchanged : CheckoutResult::Outcome::kept;
        if (deepen(request, found.id, repositories, request.folder)) {
          if (result.notes.empty()) result.outcome = CheckoutResult::Outcome::deepened;
          result.notes.push_back(fmt::format("{} commits of history are now available",
                                             GitFolder(request.folder).text({"rev-list", "--count", found.id})));
        }
        result.state = *before;
        add_trees(request.folder, result);
        return result;
      }
      result.notes.clear();
    }
    refuse_changes(request.folder, "commit them, or stash them with `git stash`, and try again; nothing was changed");
  }
  const Beside staged(request.folder);
  result.state = stage(request, found.id, found, repositories, staged.path(), result.notes);
  if (sys::interrupted()) throw Error("interrupted");
  if (there) {
    switch_to(request.folder, staged.path(), result.state, result.notes);
    result.outcome = CheckoutResult::Outcome::moved;
  } else {
    std::error_code error;
    fs::rename(staged.path(), request.folder, error);
    if (error) throw Error(fmt::format("cannot create {}: {}", printable(request.folder.string()), error.message()));
  }
  add_trees(request.folder, result);
  return result;
}

}  // namespace wheelsmith::source
