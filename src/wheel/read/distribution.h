#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file_tree.h"
#include "pep/metadata/metadata.h"
#include "pep/wheel_name.h"

namespace wheelsmith::wheel {

// What a .dist-info folder says of its package.
struct Distribution {
  std::string dist_info;  // "torch-2.15.0.dist-info", with its parent folders
  std::optional<pep::Headers> metadata;
  std::optional<pep::Headers> wheel;
  std::vector<std::string> problems;  // why one of them could not be read
  bool has_record = false;
  bool is_installed = false;  // INSTALLER is there: a package manager put it here

  [[nodiscard]] std::string name() const { return metadata ? metadata->get("Name") : ""; }
  [[nodiscard]] std::string version() const { return metadata ? metadata->get("Version") : ""; }
  [[nodiscard]] std::vector<std::string> tags() const { return wheel ? wheel->all("Tag") : std::vector<std::string>(); }
  [[nodiscard]] bool is_purelib() const;
};

// All of the tree's .dist-info folders that lie at its top (those of a site-packages, the one of a wheel).
std::vector<Distribution> find_distributions(const FileTree& tree, const std::vector<FileTree::File>& files);

}  // namespace wheelsmith::wheel
