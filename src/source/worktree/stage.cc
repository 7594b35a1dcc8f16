// The new state of a checkout is prepared in a separate folder: fetch, tag, base patches, hipify, later patches.
// Everything that can fail (no such ref, a patch that does not apply, a failing hipify, no network, no disk space)
// fails here, without touching the user's files.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "fetch/fetch.h"
#include "source/folder/folder_writer.h"
#include "source/worktree/work_tree.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

void check_links(const fs::path& folder) {
  for (const sys::TreeFile& file : sys::list_tree(folder, {".git"})) {
    if (!file.link || link_stays_inside(file.name, file.link_target)) continue;
    throw Error(
        fmt::format("{} is a link to {}, outside the checkout", printable(file.name), printable(file.link_target)));
  }
}

// The last lines of a program's output.
std::string last_words(const std::string& output) {
  std::vector<std::string> kept;
  for (const std::string_view line : lines(output)) {
    if (!trim(line).empty()) kept.push_back(printable(trim(line)));
  }
  if (kept.size() > 3) kept.erase(kept.begin(), kept.end() - 3);
  return join(kept, " / ");
}

void apply_all(const fs::path& root, const PatchSet& set, bool hipified, const std::set<std::string>& parts) {
  for (const PatchFile& patch : set.files()) {
    if (patch.hipified == hipified && parts.contains(patch.part)) apply_patch(GitFolder(root / patch.part), patch);
  }
}

// Those of the set whose repository exists.
std::set<std::string> patched_parts(const CheckoutRequest& request, const std::vector<Part>& parts,
                                    std::vector<std::string>& notes) {
  std::set<std::string> there;
  std::set<std::string> absent;
  for (const Part& part : parts) {
    there.insert(part.path);
    for (const GitFolder::Module& module : part.git.modules()) {
      if (!module.present) absent.insert(part.path.empty() ? module.path : part.path + "/" + module.path);
    }
  }
  std::set<std::string> told;
  for (const PatchFile& patch : request.patches.files()) {
    if (there.contains(patch.part) || !told.insert(patch.part).second) continue;
    const bool below_absent = std::any_of(absent.begin(), absent.end(), [&](const std::string& path) {
      return patch.part == path || patch.part.starts_with(path + "/");
    });
    if (!below_absent)
      throw Error(
          fmt::format("patch set {} has patches for {}, but {} at {} has no such submodule (the root's own "
                      "patches belong in {}/base)",
                      printable(request.patches.name()), printable(patch.part), request.recipe, printable(request.ref),
                      request.patches.root_name()));
    notes.push_back(fmt::format("skipped the patches for {}: that submodule is not checked out (use --submodules all)",
                                printable(patch.part)));
  }
  return there;
}

}  // namespace

bool deepen(const CheckoutRequest& request, const std::string& commit, Repositories& repositories,
            const fs::path& folder) {
  if (request.depth == 1) return false;
  const GitFolder git(folder);
  if (git.text({"rev-parse", "--is-shallow-repository"}) != "true") return false;
  const auto there = to_number(git.text({"rev-list", "--first-parent", "--count", commit}));
  if (request.depth != 0 && there && *there >= request.depth) return false;
  if (request.offline)
    throw Error(
        "more than one commit of history must be fetched, but --offline forbids it: remove --depth and "
        "--full-history");
  std::vector<std::string> fetch = {"fetch", "-q", "--no-tags", "--no-recurse-submodules"};
  fetch.push_back(request.depth == 0 ? "--unshallow" : fmt::format("--depth={}", request.depth));
  fetch.insert(fetch.end(), {"--", repositories.address(request.origin), commit});
  const sys::Captured result = repositories.git().run(fetch, folder, "https:ssh:file");
  if (!result.exit.good())
    throw Error(fmt::format("cannot fetch the history of {} ({})", printable(request.ref), git_message(result)));
  return true;
}

void run_hipify(const fs::path& root, const std::string& script, const fs::path& python) {
  if (!sys::is_folder(root) || !fs::is_regular_file(root / script))
    throw Error(fmt::format("the recipe's hipify script {} is not in this source; use --no-hipify to skip it",
                            printable(script)));
  sys::Command command;
  command.argv = {python.string(), script};
  command.folder = root;
  sys::Environment environment = sys::current_environment();
  environment["PYTHONDONTWRITEBYTECODE"] = "1";
  command.environment = std::move(environment);
  std::string output;
  const sys::Exit exit =
      sys::Process(command).wait([&](std::string_view piece) { output += piece; }, [] { return sys::interrupted(); });
  if (exit.stopped) throw Error("interrupted");
  if (!exit.good())
    throw Error(fmt::format("hipify ({}) failed, {}: {}", printable(script), sys::to_string(exit), last_words(output)));
  for (const Part& part : parts_of(root)) {
    // Every new file is hipify's, even if .gitignore would hide it: the folder was fresh.
    std::vector<std::string> add = {"add", "-A", "-f", "--", ".", ":(exclude,glob)**/__pycache__/**"};
    for (const GitFolder::Module& module : part.git.modules()) add.push_back(":(exclude,literal)" + module.path);
    part.git.text(add);
    if (!part.git.run({"diff-index", "--cached", "--quiet", "--ignore-submodules=all", "HEAD", "--"}).exit.good()) {
      const std::string date = part.git.text({"log", "-1", "--format=%cI"});
      part.git.text({"commit", "-q", "--no-verify", "--no-gpg-sign", "-m", k_hipify_subject},
                    {.variables = {{"GIT_AUTHOR_DATE", date}, {"GIT_COMMITTER_DATE", date}}});
    }
    part.git.tag(k_hipify_tag, part.git.head());
  }
}

void hide_submodules(const GitFolder& git) {
  for (const GitFolder::Module& module : git.modules()) {
    if (!module.present) continue;
    git.text({"config", "submodule." + module.name + ".ignore", "all"});
    git.text({"update-index", "--skip-worktree", "--", module.path});
  }
}

WorkState stage(const CheckoutRequest& request, const std::string& commit, const Commit& found,
                Repositories& repositories, const fs::path& folder, std::vector<std::string>& notes) {
  GitTree tree;
  tree.url = request.origin;
  tree.commit = commit;
  tree.ref = request.ref;
  if (found.ref_kind == RefKind::tag) tree.tag = found.name;
  tree.submodules = request.submodules;
  repositories.checkout(tree, folder);
  (void)deepen(request, commit, repositories, folder);
  const GitFolder root(folder);
  // The usual folder for submodules' histories, where they outlive the submodule's files.
  root.text({"submodule", "absorbgitdirs"});
  if (found.ref_kind == RefKind::branch) root.text({"update-ref", "refs/remotes/origin/" + found.name, commit});
  std::vector<Part> parts = parts_of(folder);
  WorkState state;
  for (const Part& part : parts) {
    PartState& made = state.parts.emplace_back();
    made.path = part.path;
    made.name = part.name;
    made.upstream = part.git.head();
    part.git.tag(k_upstream_tag, made.upstream);
  }
  const std::set<std::string> patched = patched_parts(request, parts, notes);
  apply_all(folder, request.patches, false, patched);
  for (std::size_t i = 0; i < parts.size(); ++i) state.parts[i].made = parts[i].git.head();
  if (!request.hipify.empty()) run_hipify(folder, request.hipify, request.python);
  apply_all(folder, request.patches, true, patched);
  check_links(folder);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string head = parts[i].git.head();
    if (request.hipify.empty() || request.commit_hipify) {
      state.parts[i].made = head;
      continue;
    }
    parts[i].git.forget_tag(k_hipify_tag);
    if (head == state.parts[i].made) continue;
    state.parts[i].worked = head;
    parts[i].git.text({"update-ref", "refs/wheelsmith/worked", head});
    parts[i].git.text({"reset", "-q", "--mixed", state.parts[i].made});
  }
  for (const Part& part : parts) hide_submodules(part.git);
  state.recipe = request.recipe;
  state.variant = request.variant;
  state.origin = fetch::without_credentials(request.origin);
  state.ref = request.ref;
  state.ref_kind = found.ref_kind;
  state.commit = commit;
  state.patchset = request.patches.name();
  state.submodules = request.submodules;
  state.hipify = request.hipify;
  state.commit_hipify = request.hipify.empty() || request.commit_hipify;
  for (const PatchFile& patch : request.patches.files())
    state.patches.push_back({patch.part, patch.name, patch.sha256, patch.hipified});
  if (request.version) state.version = request.version(root);
  write_work_state(root.git_folder(), state);
  return state;
}

}  // namespace wheelsmith::source
