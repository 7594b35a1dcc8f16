#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file_tree.h"
#include "pep/metadata/metadata.h"
#include "pep/wheel_name.h"

namespace wheelsmith::wheel {

// The contents of a .dist-info folder.
struct Distribution {
  std::string dist_info;  // "torch-2.15.0.dist-info", with its parent folders
  std::optional<pep::Headers> metadata;
  std::optional<pep::Headers> wheel;
  std::vector<std::string> problems;  // why a file could not be read
  bool has_record = false;
  bool is_installed = false;  // INSTALLER exists: installed by a package manager

  [[nodiscard]] std::string name() const { return metadata ? metadata->get("Name") : ""; }
  [[nodiscard]] std::string version() const { return metadata ? metadata->get("Version") : ""; }
  [[nodiscard]] std::vector<std::string> tags() const { return wheel ? wheel->all("Tag") : std::vector<std::string>(); }
  [[nodiscard]] bool is_purelib() const;
};

// The top-level .dist-info folders of the tree (all of a site-packages, or the one of a wheel).
std::vector<Distribution> find_distributions(const FileTree& tree, const std::vector<FileTree::File>& files);

}  // namespace wheelsmith::wheel
