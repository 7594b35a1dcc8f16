#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace wheelsmith::source {

// How many folders a link's target climbs before it names anything. Nothing for a target that could leave the tree: an
// absolute one, or one that climbs after descending ("a/.." is elsewhere when "a" is itself a link).
std::optional<std::size_t> climb_of_link(std::string_view target);
// Whether a link of that name (relative to the tree) stays in the tree.
bool link_stays_inside(std::string_view name, std::string_view target);

// Writes an archive's entries into an empty folder that only we use, and nothing outside of it: each folder on the way
// is opened without following links, and files are only created, never opened. Names are plain (archive::plain_name).
class FolderWriter {
 public:
  explicit FolderWriter(const std::filesystem::path& root);
  ~FolderWriter();
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;

  void folder(const std::string& name);
  // Then write() its content, in chunks; any other call ends it. Modes become 0644 or 0755; times before 1980 (which no
  // ZIP can store, so that no wheel could be made) or in the future (which make ninja rebuild endlessly) are clamped.
  void file(const std::string& name, unsigned mode, std::int64_t mtime);
  void write(Bytes bytes);
  void symlink(const std::string& name, const std::string& target);
  void hard_link(const std::string& name, const std::string& target);  // to an earlier file
  void finish();

  // The single folder that contains all entries, if there is one.
  [[nodiscard]] std::optional<std::string> only_folder() const;
  // Throws when a link would leave the tree once that folder is the root.
  void check_strip() const;

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace wheelsmith::source
