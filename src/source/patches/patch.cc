#include "source/patches/patch.h"

// git applies patches (or patch where git is missing); both know more about diffs than is worth reimplementing. Two
// pitfalls: in a folder below a repository `git apply` silently skips files that it considers outside of it, and the
// user's own settings (apply.whitespace) change the result. So git runs without a repository and without settings.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "source/patches/patch_reason.h"
#include "sys/file.h"
#include "sys/process/process.h"

namespace wheelsmith::source {

namespace {

enum class Tool { git, patch };
enum class Direction { forward, reverse };
enum class Effect { check, apply };

sys::Captured run(Tool tool, const std::filesystem::path& folder, const std::string& text, Direction direction,
                  Effect effect) {
  sys::Command command;
  command.folder = folder;
  command.input = text;
  sys::Environment environment = sys::current_environment();
  std::erase_if(environment, [](const auto& variable) { return variable.first.starts_with("GIT_"); });
  environment["LC_ALL"] = "C";
  if (tool == Tool::git) {
    // No repository at all: the source itself could contain one whose configuration names programs (filters) that git
    // would run.
    environment["GIT_DIR"] = "/dev/null/none";
    environment["GIT_CONFIG_NOSYSTEM"] = "1";
    environment["GIT_CONFIG_GLOBAL"] = "/dev/null";
    command.argv = {"git", "apply", "-p1", "--whitespace=nowarn"};
    if (effect == Effect::check) command.argv.emplace_back("--check");
    if (direction == Direction::reverse) command.argv.emplace_back("-R");
    command.argv.emplace_back("-");
  } else {
    command.argv = {"patch", "-p1", "--fuzz=0", "--no-backup-if-mismatch", "--reject-file=-", "--force"};
    if (effect == Effect::check) command.argv.emplace_back("--dry-run");
    if (direction == Direction::reverse) command.argv.emplace_back("-R");
  }
  command.environment = std::move(environment);
  return sys::capture(command);
}

// patch prints "checking file setup.py", then "Hunk #2 FAILED at 40.", or "can't find file to patch at input line 3".
PatchFailure patch_failure(const std::string& output) {
  std::string file;
  for (const std::string_view line : lines(output)) {
    constexpr std::string_view k_file = "checking file ";
    if (line.starts_with(k_file)) file = line.substr(k_file.size());
    if (line.starts_with("can't find file to patch")) return {"", std::string(line), {}};
    const std::size_t failed = line.find(" FAILED at ");
    if (!line.starts_with("Hunk #") || failed == std::string_view::npos) continue;
    const std::string_view at = line.substr(failed + 11, line.substr(failed + 11).find_first_not_of("0123456789"));
    return {file, fmt::format("hunk {} (line {})", line.substr(6, failed - 6), at), to_number(at)};
  }
  return {file, std::string(trim(output)), {}};
}

void apply_one(Tool tool, const std::filesystem::path& folder, const Patch& patch,
               const std::vector<PatchedFile>& files) {
  const std::string name = printable(patch.name);
  const sys::Captured check = run(tool, folder, patch.text, Direction::forward, Effect::check);
  if (check.exit.good()) {
    const sys::Captured applied = run(tool, folder, patch.text, Direction::forward, Effect::apply);
    if (applied.exit.good()) return;
    throw Error(fmt::format("cannot apply patch {}: {}", name, printable(trim(applied.errors))));
  }
  if (run(tool, folder, patch.text, Direction::reverse, Effect::check).exit.good()) {
    throw Error(
        fmt::format("patch {} is already applied in this source; remove it from the recipe, or build the version "
                    "that it was made for",
                    name));
  }
  PatchFailure failure =
      tool == Tool::git ? git_failure(check.errors, files) : patch_failure(check.output + check.errors);
  if (failure.file.empty() && files.size() == 1) failure.file = files.front().name;
  const std::string place = failure.file.empty() ? "" : printable(failure.file) + ", ";
  std::string there;
  if (failure.line && !failure.file.empty()) {
    if (const std::optional<Blob> blob = sys::FolderTree(folder).open(failure.file))
      there = what_is_there(patch.text, failure, blob->bytes.text());
  }
  throw Error(fmt::format("patch {} does not apply: {}{}{}{}", name, place, printable(failure.where),
                          there.empty() ? "" : ": ", there));
}

}  // namespace

void apply_patches(const std::filesystem::path& folder, const std::vector<Patch>& patches) {
  if (patches.empty()) return;
  const Tool tool = !sys::find_program("git").empty() ? Tool::git : Tool::patch;
  if (tool == Tool::patch && sys::find_program("patch").empty()) {
    throw Error("the recipe has patches, but neither git nor patch is installed; install git");
  }
  for (const Patch& patch : patches) {
    std::vector<PatchedFile> files;
    try {
      files = read_patch(patch.text);
    } catch (const Error& error) {
      throw error.in("patch " + printable(patch.name));
    }
    // The folder comes from the patch set, the links on the way from the source.
    if (!sys::is_within(std::filesystem::weakly_canonical(folder / patch.folder),
                        std::filesystem::weakly_canonical(folder)))
      throw Error(fmt::format("patch {}: a link in the source points outside the source", printable(patch.name)));
    apply_one(tool, folder / patch.folder, patch, files);
  }
}

}  // namespace wheelsmith::source
