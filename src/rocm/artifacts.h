#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/finding.h"

namespace wheelsmith::rocm {

// "blas_lib_gfx942": name, component and target ("generic": all GPUs).
struct ArtifactName {
  std::string name, component, target;

  // The target without its features: "gfx942" of "gfx942:xnack+".
  [[nodiscard]] std::string base_target() const { return target.substr(0, target.find(':')); }
  [[nodiscard]] std::string to_string() const { return name + "_" + component + "_" + target; }
};

// Three parts without '_', of a folder or (with .tar.zst, .tar.xz) of an archive; nothing for any other name. Throws
// Error for parts that are not valid in a package name.
std::optional<ArtifactName> parse_artifact_name(std::string_view text);

// A file or a link of an artifact.
struct Entry {
  std::filesystem::path place;  // of a file in a folder
  std::string artifact;
  std::string link_target;  // of a link, as written
  std::uint64_t size = 0;
  bool link = false;
  bool executable = false;
  std::shared_ptr<const Blob> unpacked;  // of a file in an archive: the contents of all its files, one behind the other
  std::uint64_t offset = 0;              // in there

  // Mapped, not read.
  [[nodiscard]] Blob open() const;
};

using Entries = std::map<std::string, Entry>;  // by path below the install prefix

struct Artifact {
  ArtifactName name;
  Entries entries;
};

// Artifacts in a fixed order (by name), all their base folders overlaid.
struct Artifacts {
  std::vector<Artifact> all;
  std::vector<Finding> findings;
};

// All artifacts in the folder. Archives are unpacked once, into a file in `scratch` that is deleted with the last
// entry; folders are not copied. Throws Error for paths that lead out of an artifact, for corrupt archives and for
// invalid manifests.
Artifacts read_artifacts(const std::filesystem::path& folder, const std::filesystem::path& scratch, unsigned threads);

// If two artifacts have different files with the same path, the file of this artifact is not used.
struct ConflictRule {
  std::vector<std::string> paths;  // patterns (path_matches)
  std::string yields;              // the artifact's name, whatever its component
};

// Overlays the newer entries on the others. The same path with different contents is a finding, and the newer file is
// used, unless a rule chooses the other.
void merge(Entries& into, const Entries& newer, std::vector<Finding>& findings,
           const std::vector<ConflictRule>& rules = {});

// Checks that the merged entries form a tree: an entry below a file throws Error, one below a link is left out with a
// finding.
void settle(Entries& entries, std::vector<Finding>& findings);

// The target of a path after following the links inside the entries.
struct Resolved {
  enum class Kind : std::uint8_t { nothing, file, folder } kind = Kind::nothing;
  std::string path;
};

// The folders in between, created once: they have no entries of their own.
class Tree {
 public:
  explicit Tree(const Entries& entries);
  [[nodiscard]] const Entries& entries() const { return m_entries; }
  [[nodiscard]] Resolved resolve(const std::string& path) const;

 private:
  const Entries& m_entries;
  std::map<std::string, bool> m_folders;
};

}  // namespace wheelsmith::rocm
