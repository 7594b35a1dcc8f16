#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "cache/scan.h"
#include "sys/root_view.h"

namespace wheelsmith::cache {

// The content of files, read once per state of a file. A build compiles hundreds of units that include the same
// thousand headers; each header is read and hashed once. Thread-safe.
class FileMemo {
 public:
  // Digests of large files (compilers) persist in this file. Empty: they do not.
  explicit FileMemo(std::string digests_file = {});

  struct Facts {
    std::string digest;  // SHA-256, 32 bytes
    ScannedText text;
  };
  struct Known {
    std::shared_ptr<const Facts> facts;
    sys::PathState state;
  };
  // Nothing for files that are unreadable or larger than any source.
  std::optional<Known> file(const sys::RootView& view, const std::string& path);
  // Only the digest: for programs.
  std::string digest(const sys::RootView& view, const std::string& path);

  using Names = std::unordered_set<std::string>;
  // The names in a folder; null if it does not exist.
  std::shared_ptr<const Names> folder(const sys::RootView& view, const std::string& path);

 private:
  struct Key {
    std::uint64_t device, inode, size;
    std::int64_t modified, changed;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  static Key key_of(const sys::PathState& state);

  std::mutex m_mutex;
  std::unordered_map<Key, std::shared_ptr<const Facts>, KeyHash> m_files;
  std::unordered_map<Key, std::shared_ptr<const Names>, KeyHash> m_folders;
  std::unordered_map<std::string, std::string> m_digests;  // by path and state
  std::string m_digests_file;
};

// Whether a later change would show in it (sys/file_state.h).
bool is_settled(const sys::PathState& state, std::int64_t now);

}  // namespace wheelsmith::cache
