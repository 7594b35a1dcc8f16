#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rocm/fetch/fetch.h"

namespace wheelsmith::rocm {

// The files of a run that the user wants, by the options of `rocm fetch`.
struct RunRequest {
  std::string base;  // URL or folder
  std::string run_id;
  std::string repository;          // "OWNER-NAME", below which runs of other repositories are; "" for none
  std::string stage;               // "" or "all": no restriction
  std::filesystem::path topology;  // BUILD_TOPOLOGY.toml; empty: the run's own
  std::vector<std::string> groups, families, targets;
  bool expand_families = false;  // into their targets
  FetchSelection selection;      // without targets and artifacts, which are found here
};

struct ChosenRun {
  std::string key;  // "OWNER-NAME/123-linux"
  std::vector<ChosenFile> files;
};

// Throws RequestError for options that contradict each other, and Error as list_run() and choose_files() do.
ChosenRun choose_run(const RunRequest& request, const fetch::FetchOptions& options);

}  // namespace wheelsmith::rocm
