// module: rocm
// Parses the input as lines "path" or "path>target", files and links of an artifact: every link must point inside, and
// layout must terminate.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "rocm/artifact_archive.h"
#include "rocm/artifacts.h"
#include "rocm/layout/package_table.h"
#include "rocm/stub.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wheelsmith;
  if (size > 2000) return 0;
  rocm::Entries entries;
  for (const std::string_view line : split(Bytes(data, size).text(), '\n')) {
    const std::size_t mark = line.find('>');
    rocm::Entry entry;
    entry.link = mark != line.npos;
    if (entry.link) entry.link_target = std::string(line.substr(mark + 1));
    if (!line.substr(0, mark).empty()) entries[std::string(line.substr(0, mark))] = entry;
    try {
      (void)rocm::parse_artifact_name(line);
    } catch (const Error&) {}
  }
  try {
    for (const std::string& base : rocm::read_artifact_manifest(Bytes(data, size).text())) {
      if (base.starts_with('/') || base.starts_with("../")) __builtin_trap();
    }
  } catch (const Error&) {}
  const rocm::Tree tree(entries);
  for (const auto& [path, entry] : entries) {
    const rocm::Resolved end = tree.resolve(path);
    if (end.kind == rocm::Resolved::Kind::file) {
      const auto found = entries.find(end.path);
      if (found == entries.end() || found->second.link) __builtin_trap();
      const std::string relative = rocm::relative_target(path, end.path);
      if (relative.empty()) __builtin_trap();
    }
    if (end.path.starts_with("../") || end.path.starts_with('/')) __builtin_trap();
    // A path without pattern characters matches itself, and "**" matches everything.
    if (!rocm::path_matches("**", path)) __builtin_trap();
    if (path.find_first_of("*?") == path.npos && !rocm::path_matches(path, path)) __builtin_trap();
    (void)rocm::path_matches(entry.link_target, path);
  }
  return 0;
}
