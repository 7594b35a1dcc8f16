#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "source/folder/listing.h"

namespace wheelsmith::source {

// Brings single files of one folder to the same names in another, without writing through links that are there.
class TreeCopy {
 public:
  TreeCopy(std::filesystem::path from, std::filesystem::path to);

  // Whether something of that kind is there already.
  [[nodiscard]] bool has(const SourceFile& file) const;
  // Nothing happens where the content is the same; else the copy is new, with the time of now.
  void bring(const SourceFile& file);
  // And the folders that are empty then.
  void remove(const std::string& name);

 private:
  // Makes the folders on the way; what stands in the way goes.
  void make_parents(const std::string& name);

  std::filesystem::path m_from, m_to, m_incoming;
  std::set<std::string, std::less<>> m_parents;  // known to be folders
};

}  // namespace wheelsmith::source
