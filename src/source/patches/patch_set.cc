// A patch set is a folder of mails as written by `git format-patch`. `git am` turns them into commits, one at a time,
// so that the failing one can be named; the committer date is the author's, so that the commits are identical
// everywhere.

#include "source/patches/patch_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "archive/archive.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "source/git/git_command.h"
#include "source/patches/patch_reason.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t k_largest_patch = 64ull << 20;

std::string reason_of(const GitFolder& git, const PatchFile& patch, const std::string& errors) {
  std::vector<PatchedFile> files;
  try {
    files = read_patch(patch.text);
  } catch (const Error& error) {
    if (trim(errors).empty()) return error.what();
  }
  PatchFailure failure = git_failure(errors, files);
  if (failure.file.empty() && files.size() == 1) failure.file = files.front().name;
  std::string reason =
      failure.file.empty() ? printable(failure.where) : printable(failure.file) + ", " + printable(failure.where);
  const sys::Captured there = git.run({"cat-file", "blob", "HEAD:" + failure.file});
  if (there.exit.good()) {
    const std::string seen = what_is_there(patch.text, failure, there.output);
    if (!seen.empty()) reason += ": " + seen;
  }
  return reason;
}

}  // namespace

PatchSet::PatchSet(std::string name, fs::path folder, std::string root_name)
    : m_name(std::move(name)), m_folder(std::move(folder)), m_root_name(std::move(root_name)) {
  if (!sys::is_folder(m_folder)) return;
  for (const sys::TreeFile& file : sys::list_tree(m_folder)) {
    if (!file.name.ends_with(".patch")) continue;
    const fs::path path(file.name);
    const std::string stage = path.parent_path().filename().string();
    if (stage != "base" && stage != "hipified") {
      throw Error(fmt::format(
          "{} is not in a folder base or hipified: a patch set contains {}/base/NNNN-subject.patch, and the same "
          "below a submodule's path",
          printable((m_folder / path).string()), m_root_name));
    }
    PatchFile patch;
    patch.part = path.parent_path().parent_path().string();
    if (patch.part.empty()) m_root_is_dot = true;
    if (patch.part == m_root_name) patch.part.clear();
    patch.hipified = stage == "hipified";
    patch.name = path.filename().string();
    patch.text = sys::read_file(m_folder / path, k_largest_patch);
    patch.sha256 = to_hex(sha256(Bytes(patch.text)));
    m_files.push_back(std::move(patch));
  }
  std::sort(m_files.begin(), m_files.end(), [](const PatchFile& a, const PatchFile& b) {
    return std::tie(a.part, a.hipified, a.name) < std::tie(b.part, b.hipified, b.name);
  });
  for (std::size_t i = 1; i < m_files.size(); ++i) {
    const PatchFile& a = m_files[i - 1];
    const PatchFile& b = m_files[i];
    if (std::tie(a.part, a.hipified, a.name) == std::tie(b.part, b.hipified, b.name))
      throw Error(fmt::format("{} appears twice in {}: below {}, and without that folder", printable(b.name),
                              printable(m_folder.string()), m_root_name));
  }
}

fs::path PatchSet::folder_of(const fs::path& patch_folder, const std::string& package) {
  const fs::path exact = patch_folder / package;
  if (sys::is_folder(exact)) return exact;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(patch_folder, ignored)) {
    if (pep::same_name(entry.path().filename().string(), package)) return entry.path();
  }
  return exact;
}

std::vector<std::string> PatchSet::names(const fs::path& patch_folder, const std::string& package) {
  std::vector<std::string> result;
  const fs::path folder = folder_of(patch_folder, package);
  if (!sys::is_folder(folder)) return result;
  // A set may be named after a branch ("release/2.7"): it is the folder above the parts, not the first one.
  for (const sys::TreeFile& file : sys::list_tree(folder)) {
    fs::path place = fs::path(file.name).parent_path();
    if (!file.name.ends_with(".patch") || (place.filename() != "base" && place.filename() != "hipified")) continue;
    result.push_back(place.begin()->string());
    if (fs::path part = place.parent_path(); part.filename() == package) result.push_back(part.parent_path().string());
  }
  std::erase(result, "");
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  // "release" is only a prefix of "release/2.7".
  std::erase_if(result, [&](const std::string& name) {
    return std::any_of(result.begin(), result.end(),
                       [&](const std::string& longer) { return longer.starts_with(name + "/"); });
  });
  return result;
}

std::size_t PatchSet::drop_hipified() {
  return std::erase_if(m_files, [](const PatchFile& patch) { return patch.hipified; });
}

fs::path PatchSet::folder_of(const std::string& part, bool hipified) const {
  const fs::path place = !part.empty() ? m_folder / part : m_root_is_dot ? m_folder : m_folder / m_root_name;
  return place / (hipified ? "hipified" : "base");
}

void apply_patch(const GitFolder& git, const PatchFile& patch) {
  const std::string before = git.head();
  const sys::TempDir place;
  const fs::path file = place.path() / "mail.patch";
  sys::write_file(file, patch.text);
  const sys::Captured applied = git.run(
      {"-c", "am.threeWay=false", "-c", "mailinfo.scissors=false", "am", "-q", "--keep-non-patch", "--keep-cr",
       "--no-scissors", "--committer-date-is-author-date", "--no-gpg-sign", "--whitespace=nowarn", file.string()});
  if (applied.exit.good() && git.head() != before) return;
  (void)git.run({"am", "--abort"});
  const std::string name =
      (patch.part.empty() ? "" : patch.part + "/") + (patch.hipified ? "hipified/" : "base/") + patch.name;
  if (git.run({"apply", "-R", "--check", "--whitespace=nowarn", file.string()}).exit.good())
    throw Error(fmt::format("patch {} is already in {}; remove it from the patch set", printable(name),
                            shown_part(patch.part)));
  throw Error(fmt::format("patch {} does not apply: {}", printable(name),
                          reason_of(git, patch, applied.errors + "\n" + applied.output)));
}

}  // namespace wheelsmith::source
