#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "source/git/repositories.h"
#include "source/patches/patch_set.h"
#include "source/worktree/work_state.h"

// Users' working folders: a ref of a package with its history, submodules, patches and hipify, which can move to
// another ref without losing the user's work.

namespace wheelsmith::source {

struct CheckoutRequest {
  std::filesystem::path folder;
  std::string recipe;  // also names the root's folder in patch sets
  std::string variant;
  std::string origin, ref;
  std::string commit;                                  // "" to resolve the ref now
  std::optional<std::vector<std::string>> submodules;  // wanted; nothing: all
  PatchSet patches;
  std::string hipify;  // a script below the source; "" for none
  bool commit_hipify = true;
  std::filesystem::path python;  // interpreter for it
  unsigned depth = 1;            // of the root's history; 0: all of it
  bool offline = false;
  std::function<std::string(const GitFolder&)> version;  // from the files; may be empty
};

struct CheckoutResult {
  enum class Outcome { made, moved, unchanged, kept, deepened } outcome = Outcome::made;
  WorkState state;
  std::vector<std::string> heads;  // of state.parts: HEAD, including the user's commits
  std::vector<std::string> trees;  // of state.parts: HEAD's tree
  std::vector<std::string> notes;  // sentences: what was saved or skipped
};
std::string_view to_string(CheckoutResult::Outcome outcome);

// On any failure or interrupt the folder is unchanged: everything that can fail happens in a folder beside it. Throws
// Error.
CheckoutResult check_out(const CheckoutRequest& request, Repositories& repositories, store::Store& store);

// Throws an Error that lists tracked files of any part that differ from the checkout; `advice` says what to do.
void refuse_changes(const std::filesystem::path& root, const std::string& advice);

// Restores a folder whose move was interrupted (power, kill -9); does nothing otherwise.
void recover(const std::filesystem::path& root);

// Patches and hipify move a submodule away from its parent's pin. That is not a user's change: it is hidden from `git
// status`, and `git commit -a` does not include it.
void hide_submodules(const GitFolder& git);

// The steps, shared by the files of this module.
WorkState stage(const CheckoutRequest& request, const std::string& commit, const Commit& found,
                Repositories& repositories, const std::filesystem::path& folder, std::vector<std::string>& notes);
void switch_to(const std::filesystem::path& root, const std::filesystem::path& staged, const WorkState& state,
               std::vector<std::string>& notes);
// Fetches as much of the root's history as requested; false when it is already present.
bool deepen(const CheckoutRequest& request, const std::string& commit, Repositories& repositories,
            const std::filesystem::path& folder);
// A tag for hipify in every part; a commit where there are changes.
void run_hipify(const std::filesystem::path& root, const std::string& script, const std::filesystem::path& python);

}  // namespace wheelsmith::source
