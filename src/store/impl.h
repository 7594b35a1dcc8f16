#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/index.h"
#include "store/scratch.h"
#include "store/sharing.h"
#include "store/store.h"

namespace wheelsmith::store {

// Tells backup programs to skip the folder; collect() requires it before it removes anything. See cachedir.org.
inline constexpr std::string_view k_tag_name = "CACHEDIR.TAG";
inline constexpr std::string_view k_tag =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder is a store of wheelsmith: all in it can be made again.\n";

std::string step_file_name(std::string_view key);

// Throws Error for a store that belongs to another user or is world-writable (owner.cc).
void refuse_foreign_store(const std::filesystem::path& root);

struct Store::Impl {
  Impl(const std::filesystem::path& place, StoreOptions given);

  std::filesystem::path root;
  StoreOptions options;
  Sharing sharing;
  std::filesystem::path local;             // root, or this machine's folder for a shared store
  bool local_claims = false;               // flock() does not work in `local`
  Scratch scratch;                         // on the file system of the results
  std::unique_ptr<Scratch> local_scratch;  // null: same as scratch
  Index index;
  std::shared_ptr<Heart> heart;

  // Folders returned by use_folder(), each with its shared lock; none on a read-only disk.
  std::map<std::filesystem::path, std::optional<Lock>> in_use;
  std::mutex in_use_mutex;

  // Calls a writing function; a failing disk becomes the Error that names the store.
  void writing(const std::function<void()>& task) const;
  // The folder, created if needed; throws the Error that names the store.
  std::filesystem::path writable(std::string_view name) const;
  // Atomically, through the scratch folder.
  void write(const std::filesystem::path& target, std::string_view text);

  [[nodiscard]] std::filesystem::path step_file(std::string_view key) const;
  [[nodiscard]] std::filesystem::path seen_file(std::string_view key) const;
  // The folder of a part of the store ("blobs", "envs"): in root or in local.
  [[nodiscard]] std::filesystem::path place(std::string_view part) const;
  // How to take a lock of that name: with flock() on a file, or with a claim in a folder.
  struct LockPlace {
    std::filesystem::path path;
    bool claim = false;
  };
  [[nodiscard]] LockPlace lock_place(std::string_view name) const;
  [[nodiscard]] std::optional<Lock> try_lock(std::string_view name) const;
  [[nodiscard]] Lock lock(std::string_view name, const std::function<void(const std::string&)>& on_wait) const;
  [[nodiscard]] Lock shared_lock(std::string_view name) const;
  [[nodiscard]] Scratch& temporary() { return local_scratch ? *local_scratch : scratch; }
  // The scratch folder on the same file system as the path.
  [[nodiscard]] Scratch& scratch_for(const std::filesystem::path& path);
  // Makes a network file system drop its cached entries of the result folders.
  void refresh() const;
  // The time that collect() compares with file times.
  [[nodiscard]] std::int64_t now();
  // Differences between the index and the steps folder; none means that both have the same state.
  struct Difference {
    std::vector<Index::Row> added;
    std::vector<std::string> gone;
    std::string state;
  };
  [[nodiscard]] Difference difference();
  void bring_index_up_to_date();
  void verify_index(std::vector<Finding>& findings);
};

// Nothing when the file is missing or is not a valid step (partial, or from another version): it counts as not built,
// and verify() reports it. Throws Error on a disk error: an hours-long rebuild would be the wrong response.
std::optional<StepRecord> read_step(const std::filesystem::path& file);

// Small documents begin with a line that contains the SHA-256 of the rest. Nothing for one that was changed.
std::string with_digest(std::string_view text);
std::optional<std::string> without_digest(std::string_view file);
// A line of the history begins with 16 digits of its own SHA-256; lines of older versions do not.
std::string history_line(std::string_view json);
std::optional<std::string_view> history_text(std::string_view line);

// The folder of the programs that all shims link to.
inline constexpr std::string_view k_shim_programs = "shims/programs";

// Renames the path into the scratch folder first, so that no process sees a partial removal.
void remove_whole(const std::filesystem::path& path, Scratch& scratch);

bool is_sha256(std::string_view text);
// The names of a folder's entries, sorted; empty when it is missing or unreadable.
std::vector<std::string> names_in(const std::filesystem::path& folder);

struct Usage {
  std::uint64_t files = 0, bytes = 0;
};
// Of a file or of everything in a folder; unreadable entries count nothing.
Usage usage(const std::filesystem::path& path);
// When a file, or a folder by its end mark, was last used; seconds since 1970, 0 when it does not exist.
std::int64_t last_used(const std::filesystem::path& path);
std::int64_t seconds_now();
void touch(const std::filesystem::path& path);

}  // namespace wheelsmith::store
