#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "sys/loader.h"

namespace wheelsmith::sys {

namespace {

namespace fs = std::filesystem;

void read_conf(const fs::path& file, int depth, std::vector<std::string>& folders);

// "include /etc/ld.so.conf.d/*.conf": only the last component may be a pattern, as is usual in practice.
void read_include(const fs::path& pattern, int depth, std::vector<std::string>& folders) {
  std::vector<fs::path> files;
  std::error_code ignored;  // a missing folder includes nothing
  for (const fs::directory_entry& entry : fs::directory_iterator(pattern.parent_path(), ignored)) {
    if (glob_match(pattern.filename().string(), entry.path().filename().string())) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) read_conf(file, depth + 1, folders);
}

void read_conf(const fs::path& file, int depth, std::vector<std::string>& folders) {
  constexpr int k_deepest = 8;  // a file may include itself
  if (depth > k_deepest) return;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::string_view text = trim(std::string_view(line).substr(0, line.find('#')));
    if (text.starts_with("include ")) {
      const fs::path pattern(trim(text.substr(8)));
      read_include(pattern.is_absolute() ? pattern : file.parent_path() / pattern, depth, folders);
    } else if (text.starts_with('/')) {
      folders.emplace_back(text);
    }
  }
}

// The processor-specific subfolders that the loader searches before each folder, best first.
std::vector<std::string> processor_folders() {
  std::vector<std::string> names;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) names.emplace_back("x86-64-v4");
  if (__builtin_cpu_supports("x86-64-v3")) names.emplace_back("x86-64-v3");
  if (__builtin_cpu_supports("x86-64-v2")) names.emplace_back("x86-64-v2");
#endif
  return names;
}

std::vector<std::string> with_processor_folders(const std::vector<std::string>& folders) {
  const std::vector<std::string> names = processor_folders();
  std::vector<std::string> all;
  for (const std::string& folder : folders) {
    for (const std::string& name : names) {
      const fs::path better = fs::path(folder) / "glibc-hwcaps" / name;
      std::error_code ignored;  // the loader cannot find unreadable entries either
      if (fs::is_directory(better, ignored)) all.push_back(better.string());
    }
    all.push_back(folder);
  }
  return all;
}

}  // namespace

std::vector<std::string> loader_folders() {
  std::vector<std::string> folders;
  read_conf("/etc/ld.so.conf", 0, folders);
  for (const char* folder : {"/lib", "/usr/lib", "/lib64", "/usr/lib64"}) folders.emplace_back(folder);
  return with_processor_folders(folders);
}

std::vector<std::string> musl_loader_folders() {
  std::vector<std::string> folders;
  std::error_code ignored;  // without a configuration the built-in folders count
  for (const fs::directory_entry& entry : fs::directory_iterator("/etc", ignored)) {
    if (!glob_match("ld-musl-*.path", entry.path().filename().string())) continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      std::replace(line.begin(), line.end(), ':', ' ');
      for (const std::string_view part : split(line, ' ')) {
        if (part.starts_with('/')) folders.emplace_back(part);
      }
    }
  }
  if (folders.empty()) folders = {"/lib", "/usr/local/lib", "/usr/lib"};
  return folders;
}

std::vector<std::string> loader_folders_below(const std::string& root) {
  std::vector<std::string> folders;
  for (const char* folder : {"usr/local/lib", "lib", "usr/lib", "lib64", "usr/lib64"}) {
    const fs::path path = fs::path(root) / folder;
    std::error_code ignored;  // what is not there holds no libraries
    for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored)) {
      if (glob_match("*-linux-*", entry.path().filename().string()) && entry.is_directory(ignored))
        folders.push_back(entry.path().string());
    }
    if (fs::is_directory(path, ignored)) folders.push_back(path.string());
  }
  return folders;
}

std::vector<std::string> library_path() {
  std::vector<std::string> folders;
  const char* value = std::getenv("LD_LIBRARY_PATH");
  if (value == nullptr || *value == '\0') return folders;
  std::string parts = value;
  std::replace(parts.begin(), parts.end(), ';', ':');
  std::error_code ignored;  // without a current folder, relative entries are ignored
  const fs::path here = fs::current_path(ignored);
  for (const std::string_view part : split(parts, ':')) folders.push_back((here / part).lexically_normal().string());
  return with_processor_folders(folders);
}

}  // namespace wheelsmith::sys
