#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "source/git/repositories.h"
#include "source/patches/patch_set.h"
#include "source/worktree/work_state.h"

// Folders that people work in: a ref of a package with its history, submodules, patches and hipify, which moves to
// another ref without losing anything of theirs.

namespace wheelsmith::source {

struct CheckoutRequest {
  std::filesystem::path folder;
  std::string recipe;  // also the name of the root's folder in patch sets
  std::string variant;
  std::string origin, ref;
  std::string commit;                                  // "" to ask for what the ref stands for now
  std::optional<std::vector<std::string>> submodules;  // wanted; nothing: all
  PatchSet patches;
  std::string hipify;  // a script below the source; "" for none
  bool commit_hipify = true;
  std::filesystem::path python;  // that runs it
  unsigned depth = 1;            // of the root's history; 0: all of it
  bool offline = false;
  std::function<std::string(const GitFolder&)> version;  // what the files say; may be empty
};

struct CheckoutResult {
  enum class Outcome { made, moved, unchanged, kept, deepened } outcome = Outcome::made;
  WorkState state;
  std::vector<std::string> heads;  // of state.parts: HEAD, with commits of the user's
  std::vector<std::string> trees;  // of state.parts: what HEAD's files hash to
  std::vector<std::string> notes;  // sentences: what was saved where, what was left out
};
std::string_view to_string(CheckoutResult::Outcome outcome);

// Whatever fails, and whenever it is interrupted, the folder is as it was before: all that can fail happens in a folder
// beside it. Throws Error.
CheckoutResult check_out(const CheckoutRequest& request, Repositories& repositories, store::Store& store);

// Throws Error that lists tracked files of any part that are not as the checkout left them; `advice` says what to do.
void refuse_changes(const std::filesystem::path& root, const std::string& advice);

// Brings a folder whose move was cut off (power, kill -9) back to where it was; nothing otherwise.
void recover(const std::filesystem::path& root);

// Patches and hipify move a submodule away from the pin of its parent. That is no change of the user's: it is hidden
// from `git status`, and `git commit -a` leaves the pin alone.
void hide_submodules(const GitFolder& git);

// The steps, for one another.
WorkState stage(const CheckoutRequest& request, const std::string& commit, const Commit& found,
                Repositories& repositories, const std::filesystem::path& folder, std::vector<std::string>& notes);
void switch_to(const std::filesystem::path& root, const std::filesystem::path& staged, const WorkState& state,
               std::vector<std::string>& notes);
// Fetches as much of the root's history as is asked for; false when it is there already.
bool deepen(const CheckoutRequest& request, const std::string& commit, Repositories& repositories,
            const std::filesystem::path& folder);
// A tag for hipify in every part; a commit where there is something to commit.
void run_hipify(const std::filesystem::path& root, const std::string& script, const std::filesystem::path& python);

}  // namespace wheelsmith::source
