#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/folder_linux.h"

namespace wheelsmith::sys {

namespace {

TreeFile describe(const std::filesystem::path& path, std::string name, const struct stat& status) {
  TreeFile file;
  file.name = std::move(name);
  if (S_ISLNK(status.st_mode)) {
    std::error_code error;
    file.link = true;
    file.link_target = std::filesystem::read_symlink(path, error).string();
    if (error) throw_sys_error(error.value(), "read", path);
  } else if (S_ISREG(status.st_mode)) {
    file.executable = (status.st_mode & 0111) != 0;
    file.size = static_cast<std::uint64_t>(status.st_size);
  } else {
    throw Error(fmt::format("{} is not a file, link or folder", printable(path.string())));
  }
  return file;
}

}  // namespace

std::vector<TreeFile> list_tree(const std::filesystem::path& root, const std::vector<std::string>& skip) {
  std::vector<TreeFile> files;
  std::vector<std::string> folders{""};  // relative, each with a trailing '/' except the root
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    for (const std::string& entry : names_in(root / folder)) {
      if (std::find(skip.begin(), skip.end(), entry) != skip.end()) continue;
      std::string name = folder + entry;
      const std::filesystem::path path = root / name;
      struct stat status{};
      if (::lstat(path.c_str(), &status) != 0) throw_sys_error(errno, "stat", path);
      if (S_ISDIR(status.st_mode)) {
        folders.push_back(name + '/');
      } else {
        files.push_back(describe(path, std::move(name), status));
      }
    }
  }
  std::sort(files.begin(), files.end(), [](const TreeFile& a, const TreeFile& b) { return a.name < b.name; });
  return files;
}

}  // namespace wheelsmith::sys
