#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sys/io/fd.h"
#include "sys/open_folder.h"

namespace wheelsmith::sys {

// The state of a path: enough to detect a change of its target.
struct PathState {
  enum class Kind : std::uint8_t { file, folder, other } kind = Kind::other;
  std::uint64_t device = 0;
  FileStat stat;
  friend bool operator==(const PathState&, const PathState&) = default;
};

// The file system as another process sees it, which may have its own root and mounts. That process sends its root
// (Socket::send_fd); absolute links and ".." stay below it. Paths are absolute. The kernel resolves
// them (openat2, Linux 5.6); where it cannot, the view does so itself.
class RootView {
 public:
  enum class Lookup : std::uint8_t { by_kernel, by_parts };
  explicit RootView(Fd root, Lookup lookup = Lookup::by_kernel) : m_root(std::move(root)), m_lookup(lookup) {}
  // Our own root, to use or to send.
  static Fd own_root();

  [[nodiscard]] std::optional<PathState> state(const std::string& path) const;
  // A regular file and its state at the moment of opening.
  struct File {
    OpenFile file;
    PathState state;
  };
  [[nodiscard]] std::optional<File> open_file(const std::string& path) const;
  // The names in a folder, unsorted; nothing when it cannot be read or has more than `most`.
  [[nodiscard]] std::optional<std::vector<std::string>> names(const std::string& path, std::size_t most) const;

 private:
  [[nodiscard]] Fd open(const std::string& path, int flags) const;
  Fd m_root;
  Lookup m_lookup;
};

}  // namespace wheelsmith::sys
