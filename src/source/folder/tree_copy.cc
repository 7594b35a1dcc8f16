#include "source/folder/tree_copy.h"

#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::source {

namespace fs = std::filesystem;

namespace {

fs::file_type type_of(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type();
}

void check(const std::error_code& failed, const char* action, const fs::path& path) {
  if (failed) sys::throw_sys_error(failed.value(), action, path);
}

bool same_content(const fs::path& a, const fs::path& b) {
  std::error_code failed;
  if (fs::file_size(a, failed) != fs::file_size(b, failed) || failed) return false;
  const Blob first = sys::map_file(a);
  const Blob second = sys::map_file(b);
  return first.bytes.text() == second.bytes.text();
}

void set_executable(const fs::path& path, bool executable) {
  std::error_code failed;
  fs::permissions(path, executable ? fs::perms(0755) : fs::perms(0644), failed);
  check(failed, "set the mode of", path);
}

}  // namespace

TreeCopy::TreeCopy(fs::path from, fs::path to) : m_from(std::move(from)), m_to(std::move(to)) {
  // Beside the copy, since builds collect any files inside it.
  m_incoming = (m_to / "").parent_path();
  m_incoming += ".incoming";
}

bool TreeCopy::has(const SourceFile& file) const {
  const fs::file_type type = type_of(m_to / file.name);
  return type == (file.link ? fs::file_type::symlink : fs::file_type::regular);
}

void TreeCopy::bring(const SourceFile& file) {
  make_parents(file.name);
  const fs::path source = m_from / file.name;
  const fs::path target = m_to / file.name;
  std::error_code failed;
  if (has(file)) {
    if (file.link && fs::read_symlink(target, failed) == file.target) return;
    if (!file.link && same_content(source, target)) {
      const bool executable = (fs::status(target).permissions() & fs::perms::owner_exec) != fs::perms::none;
      if (executable != file.executable) set_executable(target, file.executable);
      return;
    }
  }
  sys::remove_tree(m_incoming);
  if (file.link) {
    fs::create_symlink(file.target, m_incoming, failed);
    check(failed, "create", target);
  } else {
    sys::copy_file(source, m_incoming);
    set_executable(m_incoming, file.executable);
    fs::last_write_time(m_incoming, fs::file_time_type::clock::now(), failed);
    check(failed, "set the time of", target);
  }
  if (type_of(target) == fs::file_type::directory) sys::remove_tree(target);
  fs::rename(m_incoming, target, failed);
  check(failed, "create", target);
}

void TreeCopy::remove(const std::string& name) {
  // A link on the way was not created by us, and its target is not ours.
  fs::path place = m_to;
  const fs::path relative(name);
  for (auto part = relative.begin(); part != std::prev(relative.end()); ++part) {
    place /= *part;
    if (type_of(place) != fs::file_type::directory) return;
  }
  const fs::path target = m_to / name;
  if (type_of(target) == fs::file_type::directory) return;  // the build made a folder of that name
  std::error_code ignored;
  fs::remove(target, ignored);
  for (fs::path folder = target.parent_path(); folder != m_to && fs::remove(folder, ignored);) {
    folder = folder.parent_path();
  }
}

void TreeCopy::make_parents(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string::npos || m_parents.contains(std::string_view(name).substr(0, slash))) return;
  for (std::size_t end = name.find('/'); end != std::string::npos; end = name.find('/', end + 1)) {
    const std::string folder = name.substr(0, end);
    if (!m_parents.insert(folder).second) continue;
    const fs::path path = m_to / folder;
    const fs::file_type type = type_of(path);
    if (type == fs::file_type::directory) continue;
    std::error_code failed;
    if (type != fs::file_type::not_found) sys::remove_tree(path);
    fs::create_directory(path, failed);
    check(failed, "create", path);
  }
}

}  // namespace wheelsmith::source
