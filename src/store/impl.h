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
#include "store/store.h"

namespace wheelsmith::store {

// What a backup program leaves out, and what collect() asks for before it removes anything: see cachedir.org.
inline constexpr std::string_view k_tag_name = "CACHEDIR.TAG";
inline constexpr std::string_view k_tag =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder is a store of wheelsmith: all in it can be made again.\n";

std::string step_file_name(std::string_view key);

// Throws Error for a store that belongs to another user, or that everybody can write to (owner.cc).
void refuse_foreign_store(const std::filesystem::path& root);

struct Store::Impl {
  explicit Impl(std::filesystem::path place);

  std::filesystem::path root;
  Scratch scratch;
  Index index;

  // Folders that use_folder() has given out, each with its shared lock; none on a read-only disk.
  std::map<std::filesystem::path, std::optional<sys::FileLock>> in_use;
  std::mutex in_use_mutex;

  // Calls what writes; a disk that refuses becomes the Error that names the store.
  void writing(const std::function<void()>& task) const;
  // The folder, made; throws the Error that names the store.
  std::filesystem::path writable(std::string_view name) const;
  // Atomically, through the scratch folder.
  void write(const std::filesystem::path& target, std::string_view text);

  [[nodiscard]] std::filesystem::path step_file(std::string_view key) const;
  [[nodiscard]] std::filesystem::path lock_file(std::string_view name) const;
  // What the index lacks of the steps folder and holds beyond it; all in order: the same state.
  struct Difference {
    std::vector<Index::Row> added;
    std::vector<std::string> gone;
    std::string state;
  };
  [[nodiscard]] Difference difference();
  void bring_index_up_to_date();
  void verify_index(std::vector<Finding>& findings);
};

// Nothing when there is no such file or it holds no step (half of another machine's, another version's): it counts as
// not built, and verify() names it. Throws Error when the disk refuses: a build of hours is no answer to that.
std::optional<StepRecord> read_step(const std::filesystem::path& file);

// Small documents begin with a line that holds the SHA-256 of the rest. Nothing for one that is not what was written.
std::string with_digest(std::string_view text);
std::optional<std::string> without_digest(std::string_view file);
// A line of the history begins with 16 digits of its own SHA-256; one that an older version wrote does not.
std::string history_line(std::string_view json);
std::optional<std::string_view> history_text(std::string_view line);

// Where the programs are that the shims of all builds are links to.
inline constexpr std::string_view k_shim_programs = "shims/programs";

// Renames it into the scratch folder first, so that no one sees half of it.
void remove_whole(const std::filesystem::path& path, Scratch& scratch);

bool is_sha256(std::string_view text);
// The names of what is directly in a folder, sorted; none when it is not there or cannot be read.
std::vector<std::string> names_in(const std::filesystem::path& folder);

struct Usage {
  std::uint64_t files = 0, bytes = 0;
};
// Of a file or of all in a folder; what cannot be looked at counts nothing.
Usage usage(const std::filesystem::path& path);
// When a file, or a folder by its end mark, was used last; seconds since 1970, 0 when it is not there.
std::int64_t last_used(const std::filesystem::path& path);
std::int64_t seconds_now();
void touch(const std::filesystem::path& path);

}  // namespace wheelsmith::store
