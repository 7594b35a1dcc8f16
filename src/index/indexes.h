#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "index/catalogue.h"

namespace wheelsmith::index {

struct Project {
  std::string name;                // normalized
  std::vector<const File*> files;  // newest version first, then by name; no two of one name
};

// A list of projects at one path below the folder of pages.
struct Index {
  std::string place;         // "" for the main one, "by-variant/cu130", "12345-linux/python/gfx94X-dcgpu"
  bool lists_files = false;  // its first page also lists the files, so that it is a find-links page too
  std::vector<Project> projects;

  [[nodiscard]] std::size_t file_count() const;
};

struct IndexOptions {
  bool by_family = false;
  bool by_variant = false;
};

// The main index first. The files belong to the catalogue.
std::vector<Index> make_indexes(const Catalogue& catalogue, const IndexOptions& options,
                                std::vector<Finding>& findings);

// "rocm-sdk-libraries-gfx94x-dcgpu" -> "gfx94X-dcgpu", "rocm-sdk-device-gfx942" -> "gfx942"; "" for none.
std::string family_word(std::string_view project);
// "2.10.0+cu130" -> "cu130", "2.9+rocm7.10.0.git1234" -> "rocm7.10.0", "1.0+cpu" -> "cpu"; "" for none.
std::string variant_word(const pep::Version& version);

}  // namespace wheelsmith::index
