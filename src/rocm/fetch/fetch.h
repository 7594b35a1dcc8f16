#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fetch/fetch.h"
#include "rocm/artifacts.h"

// The artifacts of a CI run: list them, choose, and download. The files of a run are below one name, "RUN-PLATFORM/",
// in a bucket, on any web server, or in a folder.

namespace wheelsmith::rocm {

struct ListedFile {
  std::string name;  // safe as a file's name
  std::optional<std::uint64_t> size;
};

// One page of a bucket's listing (S3's ListObjectsV2): the files directly below `prefix`, and where the next page
// begins ("" for the last). Throws Error for an invalid page.
struct BucketPage {
  std::vector<ListedFile> files;
  std::string next;
};
BucketPage parse_bucket_page(std::string_view xml, std::string_view prefix);

// The files below `key` ("123-linux") of `base`: a folder, a web server's page of links, or a bucket. Throws Error if
// there is no such run.
std::vector<ListedFile> list_run(const std::string& base, const std::string& key, const fetch::FetchOptions& options);
// Where the run's file of that name is.
std::string place_of(const std::string& base, const std::string& key, const std::string& name);

// BUILD_TOPOLOGY.toml: which CI stage builds which artifacts, and their dependencies.
struct Topology {
  struct Artifact {
    std::string group;
    std::vector<std::string> needs;
    std::set<std::string> not_on;  // platforms
    bool per_target = false;
  };
  std::map<std::string, std::vector<std::string>> stages;  // to their groups
  std::map<std::string, std::vector<std::string>> groups;  // to the groups they need
  std::map<std::string, Artifact> artifacts;

  // The artifacts that a stage needs from earlier stages. Throws Error for an unknown stage.
  [[nodiscard]] std::set<std::string> inbound(const std::string& stage, const std::string& platform) const;
};
Topology parse_topology(std::string_view text, std::string_view file_name);

struct FetchSelection {
  std::string platform = "linux";
  std::vector<std::string> include{}, exclude{};  // regular expressions, anywhere in the file's name
  std::vector<std::string> exclude_components{}, exclude_artifacts{};
  // Artifacts of these targets, families or groups, and "generic" ones; if none are named, all of them.
  std::vector<std::string> targets{};
  bool generic_only = false;
  std::optional<std::set<std::string>> artifacts{};  // only of these names, and each must be there
};

struct ChosenFile {
  ArtifactName name;
  std::string file;
  std::optional<std::uint64_t> size;
};

// The chosen archives, sorted by name; .tar.zst is preferred to .tar.xz. Throws Error that names a requested file
// that does not exist, or if nothing matches.
std::vector<ChosenFile> choose_files(const std::vector<ListedFile>& files, const FetchSelection& selection,
                                     const Topology* topology);

enum class Unpacking { none, folders, flat };

struct FetchJob {
  std::string base, key;
  std::filesystem::path folder;  // where it all goes
  Unpacking unpacking = Unpacking::folders;
  bool keep_archives = false;
  unsigned threads = 8;
  fetch::FetchOptions options;
  // Unpacks an archive into a new folder, safely, and completely or not at all.
  std::function<void(const std::filesystem::path& archive, const std::filesystem::path& folder)> unpack;
  std::function<void(const std::string& file, const std::string& what)> on_done;
};

struct FetchedFile {
  std::string file, sha256;
  std::filesystem::path path;  // the archive, the artifact's folder, or the common folder (--flatten)
  std::uint64_t size = 0;
  bool downloaded = false;  // false: it was there already
  std::string error;        // in words; "" on success
};

// Verifies each file against its .sha256sum. Several at once; one that fails does not stop the others. Finished files
// are recorded in the folder, so the next run fetches only the rest.
std::vector<FetchedFile> fetch_files(const std::vector<ChosenFile>& files, const FetchJob& job);

}  // namespace wheelsmith::rocm
