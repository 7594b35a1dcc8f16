// Where glibc's loader searches for a NEEDED library of a file:
//
//   1. if the file has no RUNPATH: its RPATH, then the RPATH of the file that loaded it, and so on up, skipping files
//      that have a RUNPATH
//   2. LD_LIBRARY_PATH
//   3. its RUNPATH (its own only: nothing is inherited)
//   4. the cache and the default folders
//
// So LD_LIBRARY_PATH takes precedence over RUNPATH, which current linkers write, but not over RPATH.

#include "wheel/check/loader/loader_search.h"

#include <array>
#include <filesystem>

namespace wheelsmith::wheel {

namespace {

// Hostile files may have loader chains and run paths of any length.
constexpr std::size_t k_longest_chain = 64;
constexpr std::size_t k_most_folders = 512;
constexpr std::size_t k_longest_path = 8192;

std::string replace_word(std::string text, std::string_view word, std::string_view value) {
  const std::array<std::string, 2> forms = {"${" + std::string(word) + "}", "$" + std::string(word)};
  for (const std::string& form : forms) {
    for (std::size_t at = text.find(form); at != std::string::npos && text.size() < k_longest_path;
         at = text.find(form, at + value.size())) {
      text.replace(at, form.size(), value);
    }
  }
  return text;
}

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

void append_run_path(const std::vector<std::string>& elements, const LoadedFile& file, FolderKind kind,
                     std::vector<SearchFolder>& folders) {
  for (const std::string& element : elements) {
    if (folders.size() >= k_most_folders) return;
    for (std::string& path : expand_run_path(element, file)) folders.push_back({std::move(path), kind});
  }
}

}  // namespace

std::string normal_path(std::string_view path) {
  std::string normal = std::filesystem::path(path).lexically_normal().string();
  if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

std::vector<std::string> expand_run_path(std::string_view element, const LoadedFile& file) {
  std::vector<std::string> paths;
  if (element.empty() || element.size() > k_longest_path) return paths;
  const std::string& machine = file.facts->machine;
  std::string path = replace_word(std::string(element), "ORIGIN", folder_of(file.path));
  path = replace_word(std::move(path), "PLATFORM", machine);
  const std::array<std::string, 2> libs = {file.facts->is_64bit ? "lib64" : "lib", "lib/" + machine + "-linux-gnu"};
  for (const std::string& lib : libs) {
    std::string expanded = replace_word(path, "LIB", lib);
    const bool has_lib = expanded != path;
    if (expanded.starts_with('/')) paths.push_back(normal_path(expanded));
    if (!has_lib) break;
  }
  return paths;
}

std::vector<SearchFolder> search_folders(const LoadedFile& file, const LoaderMachine& machine) {
  std::vector<SearchFolder> folders;
  if (file.facts->runpath.empty()) {
    std::size_t steps = 0;
    for (const LoadedFile* at = &file; at != nullptr && steps < k_longest_chain; at = at->loader, ++steps) {
      if (at->facts->runpath.empty()) append_run_path(at->facts->rpath, *at, FolderKind::rpath, folders);
    }
  }
  for (const std::string& path : machine.library_path) {
    if (path.starts_with('/')) folders.push_back({normal_path(path), FolderKind::library_path});
  }
  append_run_path(file.facts->runpath, file, FolderKind::runpath, folders);
  for (const std::string& path : machine.default_folders) folders.push_back({normal_path(path), FolderKind::system});
  return folders;
}

}  // namespace wheelsmith::wheel
