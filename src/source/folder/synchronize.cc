// A build in a user's own folder would litter it, and one in a fresh copy would recompile everything. So the build has
// its own copy that follows the folder: changed files are copied, deleted files are removed, and build outputs stay. A
// list beside the copy ("NAME.source-files") records which files came from the folder; without it a deleted file could
// not be distinguished from a build output.
//
// Changed files get the current time, whatever their time in the folder: ninja compares times, and a file that was
// replaced by an older one must be compiled too. Files with the same content are left alone, including their time, even
// if the folder's file was touched (git checkout does that).

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "archive/archive.h"
#include "base/error.h"
#include "base/text.h"
#include "source/folder/listing.h"
#include "source/folder/tree_copy.h"
#include "source/source.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

// Name to the state of the folder's file when it was copied, "" when unsure.
using FileList = std::map<std::string, std::string>;

FileList read_list(const fs::path& path) {
  FileList list;
  const std::optional<std::string> text = sys::read_file_if_there(path);
  if (!text) return list;
  for (const std::string_view record : split(*text, '\0')) {
    const std::size_t blank = record.find(' ');
    if (blank == std::string_view::npos) continue;
    const std::string name(record.substr(blank + 1));
    // The list decides what is removed.
    if (archive::is_plain_name(name)) list[name] = record.substr(0, blank);
  }
  return list;
}

void write_list(const fs::path& path, const FileList& list) {
  std::string text;
  for (const auto& [name, state] : list) text += fmt::format("{} {}", state, name) + '\0';
  sys::write_file(path, text);
}

}  // namespace

void synchronize(const fs::path& from, const fs::path& to) {
  const std::vector<SourceFile> files = list_source(from);
  sys::make_folders(to);
  fs::path list_path = (to / "").parent_path();
  list_path += ".source-files";
  const FileList before = read_list(list_path);

  // New names are recorded first: after a kill, they are known to be the folder's.
  FileList both = before;
  for (const SourceFile& file : files) both.try_emplace(file.name, "");
  if (both.size() != before.size()) write_list(list_path, both);

  FileList after;
  TreeCopy copy(from, to);
  for (const SourceFile& file : files) after[file.name] = file.settled ? file.state : "";
  for (const auto& [name, state] : before) {
    if (!after.contains(name)) copy.remove(name);
  }
  for (const SourceFile& file : files) {
    const auto known = before.find(file.name);
    const bool untouched = known != before.end() && known->second == file.state && copy.has(file);
    if (!untouched) copy.bring(file);
  }
  if (after != before) write_list(list_path, after);
}

}  // namespace wheelsmith::source
