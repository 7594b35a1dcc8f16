#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/zip_epoch.h"
#include "gpu/slim/slim.h"

// Options and results of the operations on finished wheels (retag, repair, slim, split, variant). See draft.cc.

namespace wheelsmith::surgery {

struct WriteOptions {
  std::filesystem::path out = ".";  // folder of the new wheels
  bool dry_run = false;             // write and check everything, then remove it
  bool hash = true;                 // compute the SHA-256 of the new wheel
  bool force = false;               // publish despite new errors, which become notes
  std::int64_t time = k_zip_epoch;  // of the members, SOURCE_DATE_EPOCH
  unsigned threads = 1;
  // What this command has written. Wheels of one name in two folders must not replace each other.
  std::shared_ptr<std::set<std::filesystem::path>> written = std::make_shared<std::set<std::filesystem::path>>();
};

// One new wheel.
struct Output {
  std::string path;
  std::string sha256;  // "" unless WriteOptions::hash
  std::uint64_t bytes = 0;
  std::vector<std::string> tags;
  std::string label = {};                    // of a variant wheel, "" for none
  std::vector<std::string> properties = {};  // of a variant wheel: "nvidia :: sm_arch :: 90_real"
};

// A file with device code, before and after `slim`.
struct SlimmedFile {
  std::string path;
  std::uint64_t before_bytes = 0, after_bytes = 0;  // unpacked; 0 afterwards: dropped
  std::vector<gpu::CodeChange> code;
};

// The result of an operation for one input.
struct Item {
  std::string path;   // of the input
  std::string error;  // not empty: nothing was written
  std::vector<Output> outputs;
  std::uint64_t before_bytes = 0, after_bytes = 0;
  std::vector<std::string> notes;  // sentences
  bool dry_run = false;
  std::vector<SlimmedFile> files;  // slim: by path
};

}  // namespace wheelsmith::surgery
