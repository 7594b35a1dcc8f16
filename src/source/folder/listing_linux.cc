#include "source/folder/listing.h"

// Which files are the source? In a checkout git knows, and asking it costs one short process even for 20,000 files.
// Elsewhere it is all files except known build leftovers: their time stamps and paths would make every build look new,
// and stale objects would be reused.

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/file_state.h"
#include "sys/files.h"
#include "sys/process/process.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

constexpr int k_deepest_submodule = 16;

std::string read_link(const fs::path& path) {
  std::error_code failed;
  const fs::path target = fs::read_symlink(path, failed);
  if (failed) sys::throw_sys_error(failed.value(), "read", path);
  return target.string();
}

// Nothing for entries that are neither file nor link, or missing (a tracked file that was deleted).
std::optional<SourceFile> look_at(const fs::path& folder, const std::string& name, std::int64_t now) {
  struct stat info{};
  const fs::path path = folder / name;
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    sys::throw_sys_error(errno, "stat", path);
  }
  if (!S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode)) return {};
  SourceFile file;
  file.name = name;
  file.link = S_ISLNK(info.st_mode);
  file.executable = !file.link && (info.st_mode & 0100) != 0;
  file.size = static_cast<std::uint64_t>(info.st_size);
  if (file.link) file.target = read_link(path);
  file.state =
      fmt::format("{}:{}:{}:{}.{}:{}.{}:{}", info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                  info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec, file.executable ? 'x' : '-');
  file.settled = sys::is_settled(info, now);
  return file;
}

bool is_folder(const fs::path& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_there(const fs::path& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

void walk(const fs::path& folder, std::vector<std::string>& names) {
  std::vector<std::string> open = {""};
  while (!open.empty()) {
    const std::string prefix = std::move(open.back());
    open.pop_back();
    std::error_code failed;
    fs::directory_iterator entries(folder / prefix, failed);
    for (; !failed && entries != fs::directory_iterator(); entries.increment(failed)) {
      const std::string name = prefix + entries->path().filename().string();
      if (is_leftover(name)) continue;
      std::error_code ignored;
      const fs::file_status status = entries->symlink_status(ignored);
      if (fs::is_directory(status)) {
        // A virtual environment inside the folder is not source.
        if (!is_there(folder / name / "pyvenv.cfg")) open.push_back(name + '/');
      } else {
        names.push_back(name);
      }
    }
    if (failed) sys::throw_sys_error(failed.value(), "list", folder / prefix);
  }
}

// Whether git answered. It does not if it is not installed or rejects another user's folder.
bool ask_git(const fs::path& folder, const std::string& prefix, int depth, std::vector<std::string>& names) {
  if (depth > k_deepest_submodule || !is_there(folder / ".git") || sys::find_program("git").empty()) return false;
  sys::Environment environment = sys::current_environment();
  std::erase_if(environment, [](const auto& variable) { return variable.first.starts_with("GIT_"); });
  environment["GIT_OPTIONAL_LOCKS"] = "0";
  // It only lists names, but a partial clone might fetch a missing .gitignore.
  environment["GIT_ALLOW_PROTOCOL"] = "none";
  environment["GIT_NO_LAZY_FETCH"] = "1";
  sys::Command command;
  command.argv = {"git",      "-c",       "core.fsmonitor=false", "-c", "core.quotePath=false", "ls-files", "-z", "-t",
                  "--cached", "--others", "--exclude-standard"};
  command.folder = folder;
  command.environment = std::move(environment);
  const sys::Captured answer = sys::capture(command, 1ull << 30);
  if (!answer.exit.good()) return false;
  for (const std::string_view record : split(answer.output, '\0')) {
    if (record.size() < 3) continue;
    const bool tracked = record.front() != '?';
    std::string name(record.substr(2));
    const bool nested = name.ends_with('/');  // another, untracked repository
    if (nested) name.pop_back();
    if (!tracked && is_leftover(name)) continue;
    if (!is_folder(folder / name)) {
      names.push_back(prefix + name);
      continue;
    }
    std::vector<std::string> below;
    if (!ask_git(folder / name, prefix + name + '/', depth + 1, below)) {
      below.clear();
      walk(folder / name, below);
      for (std::string& file : below) file.insert(0, prefix + name + '/');
    }
    names.insert(names.end(), below.begin(), below.end());
  }
  return true;
}

}  // namespace

bool is_leftover(std::string_view name) {
  constexpr std::string_view k_anywhere[] = {".git",          ".hg",         ".svn",  "__pycache__",
                                             ".eggs",         ".tox",        ".nox",  ".mypy_cache",
                                             ".pytest_cache", ".ruff_cache", ".venv", ".DS_Store"};
  constexpr std::string_view k_at_the_top[] = {"build", "dist", "_skbuild", "wheelhouse"};
  // git lists untracked folders as their files, so each component is checked.
  for (const std::string_view part : split(name, '/')) {
    if (std::find(std::begin(k_anywhere), std::end(k_anywhere), part) != std::end(k_anywhere)) return true;
    if (part.ends_with(".egg-info") || part.ends_with(".pyc")) return true;
  }
  const std::string_view top = name.substr(0, name.find('/'));
  return std::find(std::begin(k_at_the_top), std::end(k_at_the_top), top) != std::end(k_at_the_top);
}

std::vector<SourceFile> list_source(const std::filesystem::path& folder) {
  if (!sys::is_folder(folder)) throw Error(fmt::format("{} is not a folder", folder.string()));
  std::vector<std::string> names;
  if (!ask_git(folder, "", 0, names)) {
    names.clear();
    walk(folder, names);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::int64_t now = sys::file_clock_nanoseconds();
  std::vector<SourceFile> files;
  files.reserve(names.size());
  for (const std::string& name : names) {
    if (std::optional<SourceFile> file = look_at(folder, name, now)) files.push_back(std::move(*file));
  }
  return files;
}

}  // namespace wheelsmith::source
