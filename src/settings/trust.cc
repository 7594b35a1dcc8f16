#include "settings/trust.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "document/value.h"
#include "settings/project_file.h"
#include "settings/settings.h"
#include "sys/files.h"

namespace wheelsmith::settings {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_largest_list = 16 << 20, k_largest_patch = 64 << 20;

// A private group (on Debian and Fedora, with the number of the user) has no other members.
bool others_may_write(const sys::Ownership& ownership) {
  const bool own_group = ownership.group == ownership.user;
  return ownership.world_writable() || ((ownership.mode & 0020) != 0 && !own_group);
}

fs::path list_file(const sys::Environment& environment) {
  const fs::path folder = state_folder(environment);
  if (folder.empty())
    throw Error("cannot store trust: neither XDG_STATE_HOME nor HOME is set; use --config FILE instead");
  return folder / "trusted.json";
}

bool is_foreign(const sys::Ownership& ownership, unsigned user) {
  return ownership.user != user && ownership.user != 0;
}

}  // namespace

TrustList::TrustList(const sys::Environment& environment) : TrustList(list_file(environment)) {}

TrustList::TrustList(fs::path file) : m_file(std::move(file)) { load(); }

void TrustList::load() {
  m_files.clear();
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(m_file, ignored))) return;
  const sys::OwnedText read = sys::read_owned_file(m_file, k_largest_list);
  if (read.ownership.user != sys::current_user() || (read.ownership.mode & 0022) != 0)
    throw Error(fmt::format("{} belongs to another user or is writable by others, so it is not used; remove it",
                            printable(m_file.string())));
  const document::Value list = document::parse_json(read.text, m_file.string());
  if (const document::Array* items = list["trusted"].array()) {
    for (const document::Value& item : *items) m_files.push_back({item["file"].text_or(), item["sha256"].text_or()});
  }
}

void TrustList::save() const {
  document::Array items;
  for (const TrustedFile& one : m_files) {
    document::Table item;
    item["file"] = one.file.string();
    item["sha256"] = one.sha256;
    items.emplace_back(std::move(item));
  }
  document::Table list;
  list["schema"] = 1;
  list["trusted"] = std::move(items);
  sys::write_private_file(m_file, document::to_json(list) + "\n");
}

TrustState TrustList::state(const TrustedFile& wanted) const {
  const auto found = std::ranges::find(m_files, wanted.file, &TrustedFile::file);
  if (found == m_files.end()) return TrustState::unknown;
  return found->sha256 == wanted.sha256 ? TrustState::trusted : TrustState::changed;
}

void TrustList::add(const TrustedFile& trusted) {
  sys::make_folders(m_file.parent_path());
  const sys::FileLock lock(m_file.string() + ".lock");
  load();
  std::erase_if(m_files, [&](const TrustedFile& one) { return one.file == trusted.file; });
  m_files.push_back(trusted);
  std::ranges::sort(m_files, {}, &TrustedFile::file);
  save();
}

bool TrustList::remove(const fs::path& file) {
  if (std::ranges::find(m_files, file, &TrustedFile::file) == m_files.end()) return false;
  const sys::FileLock lock(m_file.string() + ".lock");
  load();
  const bool found = std::erase_if(m_files, [&](const TrustedFile& one) { return one.file == file; }) > 0;
  save();
  return found;
}

bool is_own_folder(const fs::path& folder) {
  const auto ownership = sys::ownership_of(folder);
  return ownership && !ownership->sticky() && !ownership->world_writable() &&
         !is_foreign(*ownership, sys::current_user());
}

TrustedFile identity_of_folder(const fs::path& folder) {
  std::error_code error;
  TrustedFile identity{fs::canonical(folder, error), ""};
  if (error) throw Error(fmt::format("cannot examine {}: {}", printable(folder.string()), error.message()));
  Sha256 hash;
  // Each part is prefixed by its size, so that different trees never produce the same text.
  const auto add = [&](std::string_view text) { hash.update(fmt::format("{}:", text.size())), hash.update(text); };
  for (const sys::TreeFile& file : sys::list_tree(identity.file)) {
    add(file.name);
    add(file.link ? "link" : "file");
    add(file.link ? file.link_target : sys::read_file(identity.file / file.name, k_largest_patch));
  }
  identity.sha256 = to_hex(hash.finish());
  return identity;
}

ProjectText read_project_text(const fs::path& file) {
  ProjectText project;
  std::error_code error;
  // Only links in the folder's path are resolved. The same file, linked into another folder, would refer to other
  // programs there.
  const fs::path folder = fs::canonical(fs::absolute(file).parent_path(), error);
  if (error) throw Error(fmt::format("cannot examine the folder of {}: {}", printable(file.string()), error.message()));
  project.identity.file = folder / file.filename();
  sys::OwnedText read = sys::read_owned_file(project.identity.file, k_largest_file);
  const auto owner = sys::ownership_of(folder);
  if (!owner) throw Error(fmt::format("cannot examine {}", printable(folder.string())));
  project.text = std::move(read.text);
  project.identity.sha256 = to_hex(sha256(Bytes(project.text)));
  project.file = read.ownership;
  project.folder = *owner;
  return project;
}

OwnershipProblem ownership_problem(const ProjectText& project, unsigned user) {
  const fs::path& file = project.identity.file;
  const fs::path folder = file.parent_path();
  const auto quoted = [](const fs::path& path) { return printable(sys::shell_quoted(path.string())); };
  const auto foreign = [&](const fs::path& path, const sys::Ownership& ownership) {
    return OwnershipProblem{fmt::format("{} belongs to user {}, not to you (user {}){}", printable(path.string()),
                                        ownership.user, user, user == 0 ? "" : " or root"),
                            fmt::format("chown {} {}", user, quoted(path))};
  };
  if (is_foreign(project.file, user)) return foreign(file, project.file);
  if (is_foreign(project.folder, user)) return foreign(folder, project.folder);
  if (others_may_write(project.file))
    return {fmt::format("other users can write to {}", printable(file.string())),
            fmt::format("chmod go-w {}", quoted(file))};
  if (project.folder.sticky() || project.folder.world_writable())
    return {fmt::format("other users can write to {}, so its {} is ignored", printable(folder.string()),
                        file.filename().string()),
            "move the file to a folder that only you can write to"};
  return {};
}

}  // namespace wheelsmith::settings
