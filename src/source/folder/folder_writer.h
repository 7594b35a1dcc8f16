#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace wheelsmith::source {

// How many folders a link's target climbs before it names anything. Nothing for a target that could lead out of the
// tree: an absolute one, or one that climbs after it went down ("a/.." is elsewhere when "a" is itself a link).
std::optional<std::size_t> climb_of_link(std::string_view target);
// Whether a link of that name (relative to the tree) stays in the tree.
bool link_stays_inside(std::string_view name, std::string_view target);

// Writes what an archive says into an empty folder that is ours alone, and nothing outside of it: each folder on the
// way is opened without following links, and files are only ever created, never opened. Names are plain
// (archive::plain_name).
class FolderWriter {
 public:
  explicit FolderWriter(const std::filesystem::path& root);
  ~FolderWriter();
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;

  void folder(const std::string& name);
  // Then write() its content, in pieces; the next call of anything else ends it. Modes become 0644 or 0755; times
  // before 1980 (which no ZIP can hold, so that no wheel could be made of it) or in the future (which make ninja build
  // without end) are moved there.
  void file(const std::string& name, unsigned mode, std::int64_t mtime);
  void write(Bytes bytes);
  void symlink(const std::string& name, const std::string& target);
  void hard_link(const std::string& name, const std::string& target);  // to a file from before
  void finish();

  // The one folder that holds all others, if there is such.
  [[nodiscard]] std::optional<std::string> only_folder() const;
  // Throws when a link would lead out once that folder is the root.
  void check_strip() const;

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace wheelsmith::source
