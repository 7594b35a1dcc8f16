#pragma once

#include <functional>
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

struct Store::Impl {
  explicit Impl(std::filesystem::path place);

  std::filesystem::path root;
  Scratch scratch;
  Index index;

  // Calls what writes; a disk that refuses becomes the Error that names the store.
  void writing(const std::function<void()>& task) const;
  // The folder, made; throws the Error that names the store.
  std::filesystem::path writable(std::string_view name) const;
  // Atomically, through the scratch folder.
  void write(const std::filesystem::path& target, std::string_view text);

  // Whether a blob's bytes are what its name says.
  [[nodiscard]] bool is_intact(std::string_view sha256);
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
};

// Nothing when there is no such file or it holds no step (half of another machine's, another version's): it counts as
// not built, and verify() names it. Throws Error when the disk refuses: a build of hours is no answer to that.
std::optional<StepRecord> read_step(const std::filesystem::path& file);

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
