#include "cli/source/patch_trust.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/command.h"
#include "settings/settings.h"
#include "settings/trust.h"
#include "sys/file.h"
#include "sys/process/process.h"
#include "sys/terminal.h"

namespace wheelsmith::cli {

namespace {

namespace fs = std::filesystem;

bool is_trusted_folder(const fs::path& folder) {
  const sys::Environment environment = sys::current_environment();
  if (settings::state_folder(environment).empty() || !settings::is_own_folder(folder)) return false;
  return settings::TrustList(environment).state(settings::identity_of_folder(folder)) == settings::TrustState::trusted;
}

void require_trusted_patches(const fs::path& folder, const std::string& package, const std::string& patchset) {
  if (is_trusted_folder(folder)) return;
  const std::string what = fmt::format("{} has a patch set {} for {}, but is not trusted", printable(folder.string()),
                                       printable(patchset), package);
  if (sys::can_ask() && settings::is_own_folder(folder)) {
    const settings::TrustedFile seen = settings::identity_of_folder(folder);
    print_status(fmt::format("{}. Trust these patches in their current state? [y/N] ", what));
    const std::string answer = to_lower(trim(sys::read_answer().value_or("")));
    if (answer == "y" || answer == "yes") return settings::TrustList(sys::current_environment()).add(seen);
  }
  throw UsageError(
      fmt::format("{}\n"
                  "  why: a patch is code that is built and run, and the current folder may contain patches by others\n"
                  "  fix: wheelsmith trust {}    (after reading the patches)\n"
                  "  or:  --patch-dir {} applies it for one command; `build --patchset none` and `checkout "
                  "--no-patches` skip it",
                  what, printable(sys::shell_quoted(folder.parent_path().string())),
                  printable(sys::shell_quoted(folder.string()))));
}

}  // namespace

fs::path patches_in(const fs::path& folder) { return folder / "patches"; }

std::function<void(const std::string& package, const std::string& patchset)> patch_trust(
    const source::PatchFolder& folder) {
  if (!folder.only_found) return [](const std::string&, const std::string&) {};
  return [path = folder.path](const std::string& package, const std::string& patchset) {
    require_trusted_patches(path, package, patchset);
  };
}

PatchFolderKeeper::PatchFolderKeeper(const source::PatchFolder& folder) : m_folder(folder) {
  if (folder.only_found) m_own = !sys::is_folder(folder.path) || is_trusted_folder(folder.path);
}

void PatchFolderKeeper::keep_trust() const {
  const sys::Environment environment = sys::current_environment();
  if (!m_own || settings::state_folder(environment).empty() || !settings::is_own_folder(m_folder.path)) return;
  settings::TrustList(environment).add(settings::identity_of_folder(m_folder.path));
}

}  // namespace wheelsmith::cli
