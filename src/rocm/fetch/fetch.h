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

// The artifacts of a CI run: what there is, which of it is wanted, and bringing it here. A run's files lie below one
// name, "RUN-PLATFORM/", in a bucket, on any web server, or in a folder.

namespace wheelsmith::rocm {

struct ListedFile {
  std::string name;  // safe as a file's name
  std::optional<std::uint64_t> size;
};

// One page of a bucket's listing (S3's ListObjectsV2): the files directly below `prefix`, and where the next page
// begins ("" for the last). Throws Error for what is no such page.
struct BucketPage {
  std::vector<ListedFile> files;
  std::string next;
};
BucketPage parse_bucket_page(std::string_view xml, std::string_view prefix);

// What lies below `key` ("123-linux") of `base`: a folder; a web server's page of links; a bucket. Throws Error where
// there is no such run.
std::vector<ListedFile> list_run(const std::string& base, const std::string& key, const fetch::FetchOptions& options);
// Where the run's file of that name is.
std::string place_of(const std::string& base, const std::string& key, const std::string& name);

// BUILD_TOPOLOGY.toml: which stage of CI makes which artifacts, and what they need.
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

  // The artifacts that a stage needs of the stages before it. Throws Error for a stage that is none.
  [[nodiscard]] std::set<std::string> inbound(const std::string& stage, const std::string& platform) const;
};
Topology parse_topology(std::string_view text, std::string_view file_name);

struct FetchSelection {
  std::string platform = "linux";
  std::vector<std::string> include{}, exclude{};  // regular expressions, anywhere in the file's name
  std::vector<std::string> exclude_components{}, exclude_artifacts{};
  // GPUs: besides "generic" ones, those of these targets, families or groups; none named: all there are.
  std::vector<std::string> targets{};
  bool generic_only = false;
  std::optional<std::set<std::string>> artifacts{};  // only of these names, and each must be there
};

struct ChosenFile {
  ArtifactName name;
  std::string file;
  std::optional<std::uint64_t> size;
};

// The archives that are wanted, by name; .tar.zst rather than .tar.xz. What was asked for by name and is not there is
// an Error that names it, and so is nothing at all.
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
  // Unpacks an archive into a folder that is not there, safely and whole or not at all.
  std::function<void(const std::filesystem::path& archive, const std::filesystem::path& folder)> unpack;
  std::function<void(const std::string& file, const std::string& what)> on_done;
};

struct FetchedFile {
  std::string file, sha256;
  std::filesystem::path path;  // the archive, the artifact's folder, or where everything lies flat
  std::uint64_t size = 0;
  bool downloaded = false;  // false: it was there already
  std::string error;        // in words; "" when all is well
};

// Each file is verified against its .sha256sum. Several at once; one that fails does not stop the others. What is done
// is written down in the folder, so that the next time only the rest is.
std::vector<FetchedFile> fetch_files(const std::vector<ChosenFile>& files, const FetchJob& job);

}  // namespace wheelsmith::rocm
