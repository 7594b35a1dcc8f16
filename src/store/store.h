#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/enum_names.h"
#include "base/finding.h"
#include "document/value.h"
#include "store/manifest.h"
#include "sys/files.h"

// Results and history on disk. Files are the truth: blobs/<sha256>, steps/<key>.json, downloads/<sha256>/<file name>,
// envs/<key>, toolkits/<key>, trees/<identity>, locks/, logs/; each is written in the store's own tmp/, synced and
// renamed. index.sqlite is an index of them for one machine; `verify(rebuild)` makes it anew. All of it may be used by
// several processes at once.

namespace wheelsmith::store {

// An environment, a toolkit or a repository is whole when this file is in its folder; it is written last, and its time
// is when the folder was used last. Of environments and toolkits it is the seal (src/store/seal.h).
inline constexpr std::string_view k_complete_mark = ".wheelsmith-complete";

// Any text as a file name: what can be read of it, and 16 hex digits of its SHA-256.
std::string slug(std::string_view text);

// The names for Store::lock() that users and collect() agree on.
std::string step_lock(std::string_view key);
std::string tree_lock(std::string_view identity);
std::string env_lock(std::string_view key);
std::string toolkit_lock(std::string_view key);
std::string download_lock(std::string_view sha256);

// A finished step: steps/<key>.json.
struct StepRecord {
  std::string key;
  std::string identity;  // package, variant, target, Python, arch list: what trees and history belong to
  std::string package, version;
  Manifest manifest;
  std::string wheel_name;    // file name
  std::string wheel_sha256;  // the blob
  std::uint64_t wheel_size = 0;
  double seconds = 0;
  std::uint64_t disk = 0;      // of the build tree
  std::int64_t finished = 0;   // seconds since 1970
  document::Value provenance;  // as in the wheel
  document::Value tests;       // outcomes

  [[nodiscard]] document::Value to_value() const;
  static StepRecord from_value(const document::Value& value);  // throws Error
};

// The kinds of things that collect() may remove, in this order: the cheapest to make again first.
enum class ItemKind : std::uint8_t { temporary, tree, log, shim, download, environment, object, wheel };

struct Removed {
  ItemKind kind = ItemKind::temporary;
  std::string path;  // below the root
  std::string name;  // of a wheel or a download: its file name
  std::uint64_t bytes = 0;
  std::int64_t used = 0;  // seconds since 1970; 0: not known
};

// A finished wheel in the store.
struct StoredWheel {
  std::string package, version, wheel_name, identity, key;
  std::uint64_t bytes = 0;
  std::int64_t finished = 0, used = 0;  // seconds since 1970
};

struct Cost {
  double seconds = 0;
  std::uint64_t wheel_size = 0, disk = 0;
};

class Store {
 public:
  // Made when it is not there; throws Error when that fails. One that is there may be read-only: lookups work, writes
  // throw "the store ROOT cannot be written: …".
  explicit Store(std::filesystem::path root);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // $WHEELSMITH_STORE, else $XDG_CACHE_HOME/wheelsmith, else $HOME/.cache/wheelsmith.
  static std::filesystem::path default_root();

  [[nodiscard]] const std::filesystem::path& root() const;
  // "downloads", "envs", …; made where that is possible.
  [[nodiscard]] std::filesystem::path folder(std::string_view name) const;
  // A folder in tmp/ that is this object's own, made; gone with it, and known as a leftover when we are killed.
  [[nodiscard]] std::filesystem::path temporary() const;
  // Where they are or will be: trees/<slug>, envs/<key>, toolkits/<key>. Not made.
  [[nodiscard]] std::filesystem::path tree(std::string_view identity) const;
  [[nodiscard]] std::filesystem::path env(std::string_view key) const;
  [[nodiscard]] std::filesystem::path toolkit(std::string_view key) const;
  // Whether the folder has its end mark; if so, it counts as used now.
  [[nodiscard]] bool is_complete(const std::filesystem::path& folder) const;
  // Writes the end mark: after everything else, with the folder's lock held.
  void complete(const std::filesystem::path& folder);
  // A folder that is made once and then only read: an environment, a toolkit. `make` is called with the lock of that
  // name held alone, when the folder is not there, was not made to the end, or is damaged; what it leaves is sealed.
  // Then the folder is held in use until this object goes: collect() leaves it, and nobody makes it anew.
  void use_folder(const std::filesystem::path& folder, const std::string& lock_name, const std::function<void()>& make);
  // The same seal for a folder that changes (a repository): complete() before a change, seal() after it. What
  // is_damaged() says of one that was not sealed is false.
  void seal(const std::filesystem::path& folder);
  [[nodiscard]] bool is_damaged(const std::filesystem::path& folder) const;
  // What differs in the folders in use from what was sealed: "envs/…: lib/x.py was changed"; "" for nothing.
  [[nodiscard]] std::string changed_in_use() const;
  // A file or a folder with an end mark counts as used now, so that collect() keeps it.
  void mark_used(const std::filesystem::path& path) const;

  // Whether a file's bytes have that SHA-256. What was seen good is remembered by its stat and not read again.
  [[nodiscard]] bool has_sha256(const std::filesystem::path& file, std::string_view sha256) const;

  // Blobs.
  std::string put_blob(const std::filesystem::path& file);  // its SHA-256
  [[nodiscard]] std::optional<std::filesystem::path> blob(std::string_view sha256) const;
  // Removes a blob whose bytes are not what its name says, so that its step counts as not built; best effort.
  void discard_damaged_blob(std::string_view sha256);
  // Removes a blob that no step names; best effort.
  void drop_blob(std::string_view sha256);

  // Steps.
  void put_step(const StepRecord& record);
  // Nothing as well when it cannot be read or its blob is gone or damaged.
  [[nodiscard]] std::optional<StepRecord> find_step(std::string_view key) const;
  [[nodiscard]] std::optional<StepRecord> newest_step(std::string_view identity) const;
  // The manifest of the newest try of an identity, finished or not: what a reason is told from.
  void note_try(std::string_view identity, const Manifest& manifest);
  [[nodiscard]] std::optional<Manifest> last_try(std::string_view identity) const;

  // History.
  void note_cost(std::string_view identity, const Cost& cost);
  [[nodiscard]] std::optional<Cost> last_cost(std::string_view identity) const;

  // Facts that are dear to find out and hold as long as a fingerprint does: kind ("python", "digest"), subject (a
  // path), fingerprint (sys::stat_fingerprint and whatever else decides).
  [[nodiscard]] std::optional<std::string> remembered(std::string_view kind, std::string_view subject,
                                                      std::string_view fingerprint) const;
  // A store that cannot be written forgets it with the process.
  void remember(std::string_view kind, std::string_view subject, std::string_view fingerprint, std::string_view facts);

  // Small named documents that stay until replaced: locks of requirements, choices of versions. One that was damaged
  // counts as not there.
  void put_note(std::string_view kind, std::string_view name, std::string_view text);
  [[nodiscard]] std::optional<std::string> note(std::string_view kind, std::string_view name) const;

  // A lock for a key, a tree, an environment; waits for other processes.
  [[nodiscard]] sys::FileLock lock(std::string_view name) const;
  [[nodiscard]] std::optional<sys::FileLock> try_lock(std::string_view name) const;

  struct Stats {
    struct Part {
      std::string name;
      std::uint64_t files = 0, bytes = 0;
    };
    std::vector<Part> parts;
    std::uint64_t steps = 0;
  };
  [[nodiscard]] Stats stats() const;
  // Every blob and download against its name, every step against its blob, every document against its digest, every
  // environment and toolkit against its seal, leftovers in tmp/ that no process holds. `rebuild` makes the SQLite index
  // anew from the files, and CACHEDIR.TAG.
  std::vector<Finding> verify(bool rebuild);
  // Removes what has not been used for so long until at most `keep_bytes` remain; returns bytes freed. Leftovers go in
  // any case, then one ItemKind after the other, of each the oldest first. Never what a process holds locked, and never
  // what was learned about compiles (units/): it is small, and without it builds run out of memory again.
  std::uint64_t collect(std::uint64_t keep_bytes, std::int64_t not_used_for_seconds, bool dry_run,
                        std::vector<Removed>& removed);

  // The finished wheels, by name and version, the newest first.
  [[nodiscard]] std::vector<StoredWheel> wheels() const;
  // Removes the steps of these keys with their wheels and build trees; returns bytes freed. A step that a build holds
  // stays, and its key is added to `held`.
  std::uint64_t remove_wheels(const std::vector<StoredWheel>& wheels, bool dry_run, std::vector<Removed>& removed,
                              std::vector<std::string>& held);

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace wheelsmith::store

template <>
struct wheelsmith::EnumNames<wheelsmith::store::ItemKind> {
  static constexpr std::array list = {"temporary", "tree", "log", "shim", "download", "environment", "object", "wheel"};
};
