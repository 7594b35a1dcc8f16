#pragma once

#include <cstdint>
#include <vector>

#include "base/finding.h"
#include "index/control.h"
#include "index/file.h"
#include "index/state.h"

namespace wheelsmith::index {

struct LookOptions {
  unsigned threads = 1;
  bool rehash = false;              // ignore hashes of the last run
  bool times_of_files = false;      // upload-time is the file's modification time
  std::vector<std::string> filter;  // see Filter
};

// The contents of a folder for an index.
struct Catalogue {
  std::vector<File> files;  // sorted by path; without excluded files
  Control control;
  std::vector<Finding> findings;
  std::unordered_map<std::string, State::KnownFile> known;                    // files that the next scan need not read
  std::vector<std::pair<std::string, std::optional<sys::FileStat>>> folders;  // all folders visited
  std::int64_t newest_change = 0;                                             // of any file, listed or not
  bool interrupted = false;  // by a signal: some files have not been read
  std::uint64_t hashed = 0;  // files
  std::uint64_t hashed_bytes = 0;
};

// Walks the folder (skipping hidden names and links to folders) and reads files that are new or changed since `known`,
// several at a time. Throws Error if the folder cannot be read; problems with a file are findings. After a signal
// (sys::interrupted()) it ends early, and `known` has what was read so far.
Catalogue look(const sys::OpenFolder& folder, std::unordered_map<std::string, State::KnownFile> known,
               const LookOptions& options);

}  // namespace wheelsmith::index
