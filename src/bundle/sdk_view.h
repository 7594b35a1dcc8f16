#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file_tree.h"
#include "bundle/sdk_table.h"
#include "elf/elf_file.h"

namespace wheelsmith::bundle {

// Several trees as one SDK: an installed prefix, or the SDK folders of a site-packages folder and of wheels,
// overlaid. If two files have the same path, the first one is used. The trees must outlive it.
class SdkView {
 public:
  struct Source {
    std::string name;  // as the user gave it
    const FileTree* tree = nullptr;
  };
  struct File {
    std::size_t source = 0;
    std::string name;  // in that source's tree
    std::uint64_t size = 0;
  };

  SdkView(std::vector<Source> sources, const SdkTable& table);

  [[nodiscard]] const std::map<std::string, File>& files() const { return m_files; }
  [[nodiscard]] const std::string& source_of(const std::string& path) const {
    return m_sources[m_files.at(path).source].name;
  }
  [[nodiscard]] Blob open(const std::string& path) const;
  // The path of the library that a file in `asking` (a folder below the root, "" for none) refers to by this name.
  [[nodiscard]] std::optional<std::string> find_library(const std::string& name, const std::string& asking) const;
  // All paths that match; '*' matches '/' too.
  [[nodiscard]] std::vector<std::string> matching(const std::string& pattern) const;

 private:
  void add(std::size_t source, const std::string& path, const FileTree::File& file);

  std::vector<Source> m_sources;
  std::map<std::string, File> m_files;
  std::multimap<std::string, std::string> m_libraries;  // base name -> path
};

// "lib" for "lib/libdemo.so", "" for "libdemo.so".
std::string folder_of(std::string_view path);

}  // namespace wheelsmith::bundle
