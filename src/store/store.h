#pragma once

#include <array>
#include <chrono>
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
#include "store/lock.h"
#include "store/manifest.h"
#include "sys/files.h"

// Results and history on disk. Files are authoritative: blobs/<sha256>, steps/<key>.json, seen/<key>.json,
// downloads/<sha256>/<file name>, envs/<key>, toolkits/<key>, trees/<identity>, locks/, logs/; each is written in the
// store's own tmp/, synced and renamed. index.sqlite indexes them for one machine; `verify(rebuild)` recreates it.
// Several processes may use a store at once.
//
// A store may be shared by several machines (sharing.h). Then results (blobs, steps, downloads, git, objects, notes,
// history, logs) are in the shared folder under claims, and the index, build trees, environments, toolkits and shims
// are in a folder of this machine, local_root().

namespace wheelsmith::store {

// An environment, a toolkit or a repository is complete when its folder contains this file; it is written last, and its
// time is when the folder was last used. For environments and toolkits it is the seal (src/store/seal.h).
inline constexpr std::string_view k_complete_mark = ".wheelsmith-complete";

// Any text as a file name: its readable part and 16 hex digits of its SHA-256.
std::string slug(std::string_view text);

// The names for Store::lock() shared by users of the store and collect().
std::string step_lock(std::string_view key);
std::string tree_lock(std::string_view identity);
std::string env_lock(std::string_view key);
std::string toolkit_lock(std::string_view key);
std::string download_lock(std::string_view sha256);

// A finished step: steps/<key>.json.
struct StepRecord {
  std::string key;
  std::string identity;  // package, variant, target, Python, arch list: the owner of trees and history
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

// The kinds of items that collect() may remove, in this order: cheapest to recreate first.
enum class ItemKind : std::uint8_t { temporary, tree, log, shim, download, environment, object, wheel };

struct Removed {
  ItemKind kind = ItemKind::temporary;
  std::string path;  // relative to the root
  std::string name;  // of a wheel or a download: its file name
  std::uint64_t bytes = 0;
  std::int64_t used = 0;  // seconds since 1970; 0: unknown
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

struct StoreOptions {
  // For the trees and environments of a shared store; empty: $SLURM_TMPDIR, $TMPDIR, else /var/tmp.
  std::filesystem::path scratch{};
  // Another machine takes over claims whose holder has been silent for this long.
  std::chrono::milliseconds claim_timeout{120'000};
};

class Store {
 public:
  // Created if missing; throws Error when that fails. An existing store may be read-only: lookups work, writes throw
  // "the store ROOT is not writable: …".
  explicit Store(std::filesystem::path root, StoreOptions options = {});
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // $WHEELSMITH_STORE, else $XDG_CACHE_HOME/wheelsmith, else $HOME/.cache/wheelsmith.
  static std::filesystem::path default_root();

  [[nodiscard]] const std::filesystem::path& root() const;
  // root(), or this machine's folder for a shared store.
  [[nodiscard]] const std::filesystem::path& local_root() const;
  // root() and local_root(), or one folder if they are the same.
  [[nodiscard]] std::vector<std::filesystem::path> roots() const;
  [[nodiscard]] const StoreOptions& options() const;
  [[nodiscard]] bool is_shared() const;
  // For every process that opens the store from now on. `shared` false also overrides the automatic choice. The store
  // should not be in use.
  static void set_shared(const std::filesystem::path& root, bool shared);
  // "downloads", "envs", …; created if possible.
  [[nodiscard]] std::filesystem::path folder(std::string_view name) const;
  // A folder in tmp/ for this object, created; removed with it, and recognized as a leftover after a kill.
  [[nodiscard]] std::filesystem::path temporary() const;
  // The same on the file system of the results, for files that are renamed into downloads/ or bin/.
  [[nodiscard]] std::filesystem::path staging() const;
  // Where they are or will be: trees/<slug>, envs/<key>, toolkits/<key>. Not created.
  [[nodiscard]] std::filesystem::path tree(std::string_view identity) const;
  [[nodiscard]] std::filesystem::path env(std::string_view key) const;
  [[nodiscard]] std::filesystem::path toolkit(std::string_view key) const;
  // Whether the folder has its end mark; if so, marks it as used now.
  [[nodiscard]] bool is_complete(const std::filesystem::path& folder) const;
  // Writes the end mark: after everything else, with the folder's lock held.
  void complete(const std::filesystem::path& folder);
  // A folder that is created once and then only read: an environment, a toolkit. `make` is called with an exclusive
  // lock of that name when the folder is missing, incomplete or damaged; its result is sealed. The folder stays in use
  // until this object is destroyed: collect() keeps it, and no process recreates it.
  void use_folder(const std::filesystem::path& folder, const std::string& lock_name, const std::function<void()>& make);
  // The same seal for a folder that changes (a repository): complete() before a change, seal() after it. is_damaged()
  // is false for a folder without a seal.
  void seal(const std::filesystem::path& folder);
  [[nodiscard]] bool is_damaged(const std::filesystem::path& folder) const;
  // How the folders in use differ from their seals: "envs/…: lib/x.py was changed"; "" for no difference.
  [[nodiscard]] std::string changed_in_use() const;
  // Marks a file or a folder with an end mark as used now, so that collect() keeps it.
  void mark_used(const std::filesystem::path& path) const;

  // Whether a file's bytes have that SHA-256. A verified file is remembered by its stat and not read again.
  [[nodiscard]] bool has_sha256(const std::filesystem::path& file, std::string_view sha256) const;

  // Blobs.
  std::string put_blob(const std::filesystem::path& file);  // its SHA-256
  [[nodiscard]] std::optional<std::filesystem::path> blob(std::string_view sha256) const;
  // Removes a blob whose bytes do not match its name, so that its step counts as not built; best effort.
  void discard_damaged_blob(std::string_view sha256);
  // Removes a blob that no step refers to; best effort.
  void drop_blob(std::string_view sha256);

  // Steps.
  void put_step(const StepRecord& record);
  // Also empty when the step is unreadable or its blob is missing or damaged.
  [[nodiscard]] std::optional<StepRecord> find_step(std::string_view key) const;
  [[nodiscard]] std::optional<StepRecord> newest_step(std::string_view identity) const;
  // The newest finished step of the identity for which `matches` returns true; examines a limited number of steps.
  [[nodiscard]] std::optional<StepRecord> newest_step(std::string_view identity,
                                                      const std::function<bool(const StepRecord&)>& matches) const;
  // What a finished step saw of the wheels of other steps (src/plan/cutoff.h): seen/<key>.json. It is removed together
  // with the step; a damaged document counts as missing.
  void put_seen(std::string_view key, std::string_view text);
  void drop_seen(std::string_view key);
  [[nodiscard]] std::optional<std::string> seen(std::string_view key) const;
  // The manifest of the newest attempt for an identity, finished or not; build reasons compare with it.
  void note_try(std::string_view identity, const Manifest& manifest);
  [[nodiscard]] std::optional<Manifest> last_try(std::string_view identity) const;

  // History.
  void note_cost(std::string_view identity, const Cost& cost);
  [[nodiscard]] std::optional<Cost> last_cost(std::string_view identity) const;

  // Facts that are expensive to compute and valid while a fingerprint matches: kind ("python", "digest"), subject (a
  // path), fingerprint (a sys::FileState and any other inputs).
  [[nodiscard]] std::optional<std::string> remembered(std::string_view kind, std::string_view subject,
                                                      std::string_view fingerprint) const;
  // In a read-only store they last as long as the process.
  void remember(std::string_view kind, std::string_view subject, std::string_view fingerprint, std::string_view facts);

  // Small named documents that stay until replaced: locks of requirements, choices of versions. A damaged one counts as
  // missing.
  void put_note(std::string_view kind, std::string_view name, std::string_view text);
  [[nodiscard]] std::optional<std::string> note(std::string_view kind, std::string_view name) const;

  // A lock for a key, a tree, an environment; waits for other processes, also on other machines if the store is
  // shared. `on_wait` is called once before that, with the holder if known.
  [[nodiscard]] Lock lock(std::string_view name, const std::function<void(const std::string&)>& on_wait = {}) const;
  [[nodiscard]] std::optional<Lock> try_lock(std::string_view name) const;

  struct Stats {
    struct Part {
      std::string name;
      std::uint64_t files = 0, bytes = 0;
    };
    std::vector<Part> parts;
    std::uint64_t steps = 0;
  };
  [[nodiscard]] Stats stats() const;
  // Checks every blob and download against its name, every step against its blob, every document against its digest,
  // every environment and toolkit against its seal, and tmp/ for leftovers that no process holds. `rebuild` recreates
  // the SQLite index from the files, and CACHEDIR.TAG.
  std::vector<Finding> verify(bool rebuild);
  // Removes items unused for that long until at most `keep_bytes` remain; returns bytes freed. Leftovers always go
  // first, then one ItemKind after another, oldest first. Never removes locked items or the memory journal of compiles
  // (units/): it is small, and without it builds run out of memory again.
  std::uint64_t collect(std::uint64_t keep_bytes, std::int64_t not_used_for_seconds, bool dry_run,
                        std::vector<Removed>& removed);

  // The finished wheels, by name and version, newest first.
  [[nodiscard]] std::vector<StoredWheel> wheels() const;
  // Removes the steps with these keys, with their wheels and build trees; returns bytes freed. A step that a build
  // holds stays, and its key is added to `held`.
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
