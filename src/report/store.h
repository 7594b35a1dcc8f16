#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/finding.h"
#include "report/style.h"
#include "store/store.h"

// `store init`, `stats`, `ls`, `verify`, `gc`, `rm`, `push` and `pull`.

namespace wheelsmith::report {

std::string store_stats_text(const std::filesystem::path& root, const store::Store::Stats& stats, const Style& style);
std::string store_stats_json(const std::filesystem::path& root, const store::Store::Stats& stats);

// `store init`.
struct InitializedStore {
  std::filesystem::path root, local;
  bool shared = false;
};
std::string initialized_store_text(const InitializedStore& store, const Style& style);
std::string initialized_store_json(const InitializedStore& store);

struct VerifiedStore {
  std::filesystem::path root;
  std::vector<Finding> findings;

  [[nodiscard]] bool is_good() const;
};
std::string verified_store_text(const VerifiedStore& store, const Style& style);
std::string verified_store_json(const VerifiedStore& store);

// The result of `store push` and `store pull`.
struct CopiedStep {
  std::string key, wheel_name;
  std::uint64_t bytes = 0;
  bool was_there = false;
  std::string error{};
};
struct Copied {
  std::string from, to;
  std::vector<CopiedStep> steps;
};
std::string copied_text(const Copied& copied, const Style& style);
std::string copied_json(const Copied& copied);

// What `gc` and `rm` removed.
struct Collected {
  std::uint64_t bytes = 0;
  std::vector<store::Removed> removed;
  bool dry_run = false;
  std::vector<std::string> held{};  // keys of steps in use by a build
};
std::string collected_text(const Collected& collected, std::int64_t now, const Style& style);
std::string collected_json(const Collected& collected);

std::string stored_wheels_text(const std::vector<store::StoredWheel>& wheels, std::int64_t now, const Style& style);
std::string stored_wheels_json(const std::filesystem::path& root, const std::vector<store::StoredWheel>& wheels);

// "12 s", "5 min", "3 h", "14 days".
std::string human_age(std::int64_t seconds);

}  // namespace wheelsmith::report
