#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "source/folder/listing.h"

namespace wheelsmith::source {

// Copies single files of one folder to the same names in another, without writing through existing links.
class TreeCopy {
 public:
  TreeCopy(std::filesystem::path from, std::filesystem::path to);

  // Whether an entry of that type already exists.
  [[nodiscard]] bool has(const SourceFile& file) const;
  // Does nothing when the content is the same; otherwise the copy is new, with the current time.
  void bring(const SourceFile& file);
  // Also removes folders left empty.
  void remove(const std::string& name);

 private:
  // Creates the folders on the way; removes entries in the way.
  void make_parents(const std::string& name);

  std::filesystem::path m_from, m_to, m_incoming;
  std::set<std::string, std::less<>> m_parents;  // known to be folders
};

}  // namespace wheelsmith::source
