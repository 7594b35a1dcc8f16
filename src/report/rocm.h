#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "env/rocm_install.h"
#include "report/style.h"
#include "rocm/fetch/choose_run.h"
#include "rocm/package.h"

// `rocm install`, `fetch` and `package`.

namespace wheelsmith::report {

std::string installed_rocm_text(const env::InstalledRocm& installed);
std::string installed_rocm_json(const env::InstalledRocm& installed);

// The files that `fetch --dry-run` would download.
std::string chosen_run_text(const rocm::ChosenRun& run);
std::string chosen_run_json(const rocm::ChosenRun& run);

struct FetchedRun {
  std::string key;
  std::filesystem::path folder;
  std::vector<rocm::FetchedFile> files;

  [[nodiscard]] std::size_t failed() const;
};
std::string fetched_run_text(const FetchedRun& run);
std::string fetched_run_json(const FetchedRun& run);

std::string packaged_text(const rocm::Packaged& packaged, const Style& style);
std::string packaged_json(const rocm::Packaged& packaged);

}  // namespace wheelsmith::report
