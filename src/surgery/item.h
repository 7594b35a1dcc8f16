#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/zip_epoch.h"

// What the operations on finished wheels (retag, repair and the like) are told and what they report. draft.h has the
// essay.

namespace wheelsmith::surgery {

struct WriteOptions {
  std::filesystem::path out = ".";  // folder of the new wheels
  bool dry_run = false;             // write and check everything, then remove it
  bool hash = true;                 // compute the SHA-256 of what is written
  bool force = false;               // publish in spite of new errors; they become notes
  std::int64_t time = k_zip_epoch;  // of the members, SOURCE_DATE_EPOCH
  unsigned threads = 1;
};

// One new wheel.
struct Output {
  std::string path;
  std::string sha256;  // "" unless WriteOptions::hash
  std::uint64_t bytes = 0;
  std::vector<std::string> tags;
};

// What an operation made of one input.
struct Item {
  std::string path;   // of the input
  std::string error;  // not empty: nothing was written
  std::vector<Output> outputs;
  std::uint64_t before_bytes = 0, after_bytes = 0;
  std::vector<std::string> notes;  // sentences
  bool dry_run = false;
};

}  // namespace wheelsmith::surgery
