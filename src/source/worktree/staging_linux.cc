#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "base/error.h"
#include "source/worktree/staging.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::source {

Staging::Staging(const std::filesystem::path& target)
    : m_target(std::filesystem::absolute(target / "").parent_path().lexically_normal()) {
  sys::make_folders(m_target.parent_path());
  std::string name = (m_target.parent_path() / ("." + m_target.filename().string() + ".new-XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) sys::throw_sys_error(errno, "create", name);
  m_path = name;
  ::chmod(name.c_str(), 0755);
}

Staging::~Staging() {
  try {
    sys::remove_tree(m_path);
  } catch (const Error&) {  // only a hidden folder is left behind
  }
}

void Staging::publish(const std::filesystem::path& made) {
  if (std::rename(made.c_str(), m_target.c_str()) == 0) return;
  if (errno == ENOTEMPTY || errno == EEXIST) {
    throw Error(fmt::format("{} is not empty; sources are unpacked only into new folders", m_target.string()));
  }
  sys::throw_sys_error(errno, "create", m_target);
}

}  // namespace wheelsmith::source
