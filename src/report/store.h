#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/finding.h"
#include "report/style.h"
#include "store/store.h"

// `store stats`, `verify` and `gc`.

namespace wheelsmith::report {

std::string store_stats_text(const std::filesystem::path& root, const store::Store::Stats& stats, const Style& style);
std::string store_stats_json(const std::filesystem::path& root, const store::Store::Stats& stats);

struct VerifiedStore {
  std::filesystem::path root;
  std::vector<Finding> findings;

  [[nodiscard]] bool is_good() const;
};
std::string verified_store_text(const VerifiedStore& store, const Style& style);
std::string verified_store_json(const VerifiedStore& store);

struct Collected {
  std::uint64_t bytes = 0;
  std::vector<std::string> removed;
  bool dry_run = false;
};
std::string collected_text(const Collected& collected);
std::string collected_json(const Collected& collected);

}  // namespace wheelsmith::report
