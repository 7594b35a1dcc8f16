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
  bool rehash = false;              // trust no hash of the last run
  bool times_of_files = false;      // upload-time is the time of the file's last change
  std::vector<std::string> filter;  // see Filter
};

// All that a folder holds for an index.
struct Catalogue {
  std::vector<File> files;  // sorted by path; none that is left out
  Control control;
  std::vector<Finding> findings;
  std::unordered_map<std::string, State::KnownFile> known;                    // what the next look need not read again
  std::vector<std::pair<std::string, std::optional<sys::FileStat>>> folders;  // all that were walked through
  std::int64_t newest_change = 0;                                             // of a file, left out or not
  bool interrupted = false;  // by a signal: some files have not been read
  std::uint64_t hashed = 0;  // files
  std::uint64_t hashed_bytes = 0;
};

// Walks the folder (hidden names and links to folders are passed over) and reads what is new or changed since `known`,
// several files at a time. Throws Error when the folder cannot be read; what is wrong with a file is a finding. After a
// signal (sys::interrupted()) it ends early, and `known` has what was read until then.
Catalogue look(const sys::OpenFolder& folder, std::unordered_map<std::string, State::KnownFile> known,
               const LookOptions& options);

}  // namespace wheelsmith::index
