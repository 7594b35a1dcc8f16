#include "source/folder/folder_writer.h"

// The classic escape takes two entries: a link "x" to somewhere outside, then a file "x/passwd". Checking names does
// not help, since both look harmless. The protection: no entry is ever written through a link. Every folder of a name
// is either known to be created by us, or rejected, and is also opened with O_NOFOLLOW.
//
// Links stay useful as long as the build that follows them later stays inside too. A target may climb first and then
// descend: it starts in a real folder of depth d, climbs at most d levels, and each name after that is a folder or a
// link with the same property. So no chain of links leaves the tree. Climbing after descending breaks the proof ("l/.."
// with l a link to the top), and is rejected.

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "base/zip_epoch.h"
#include "sys/io/new_file.h"

namespace wheelsmith::source {

namespace {

constexpr std::int64_t k_first_time = k_zip_epoch + 86'400;  // a day for time zones

enum class Kind : std::uint8_t { file, folder, symlink };

std::size_t depth_of(std::string_view name) {
  return static_cast<std::size_t>(std::count(name.begin(), name.end(), '/'));
}

}  // namespace

std::optional<std::size_t> climb_of_link(std::string_view target) {
  if (target.empty() || target.starts_with('/')) return {};
  std::size_t climb = 0;
  bool went_down = false;
  for (const std::string_view part : split(target, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      went_down = true;
    } else if (went_down) {
      return {};
    } else {
      ++climb;
    }
  }
  return climb;
}

bool link_stays_inside(std::string_view name, std::string_view target) {
  const auto climb = climb_of_link(target);
  return climb && *climb <= depth_of(name);
}

struct FolderWriter::State {
  sys::FolderHandle root_handle;
  std::unordered_map<std::string, Kind> entries;
  std::string top;  // first component of all names so far
  bool one_top = true;
  std::string link_to_top;  // a link that climbs to the very top
  std::string parent_name;
  sys::FolderHandle parent_handle;
  sys::NewFile file;
  std::int64_t file_mtime = 0;
  std::int64_t now = 0;

  [[noreturn]] void refuse(std::string_view name, std::string_view why) const {
    throw Error(fmt::format("{} {}", printable(name), why));
  }

  void note_top(const std::string& name) {
    const std::string first = name.substr(0, name.find('/'));
    if (top.empty()) top = first;
    if (top != first) one_top = false;
  }

  // Where an entry goes: its parent folder, and its name there.
  struct Place {
    const sys::FolderHandle& folder;
    std::string name;
  };

  // Creates missing folders on the way.
  Place place_of(const std::string& name) {
    const std::size_t slash = name.rfind('/');
    if (slash == std::string::npos) return {root_handle, name};
    const std::string folder = name.substr(0, slash);
    if (!parent_handle.is_open() || parent_name != folder) {
      parent_handle = open_all(folder);
      parent_name = folder;
    }
    return {parent_handle, name.substr(slash + 1)};
  }

  sys::FolderHandle open_all(const std::string& folder) {
    sys::FolderHandle handle;
    for (std::size_t begin = 0; begin <= folder.size();) {
      const std::size_t end = std::min(folder.find('/', begin), folder.size());
      const std::string part = folder.substr(begin, end - begin);
      const sys::FolderHandle& above = handle.is_open() ? handle : root_handle;
      make_folder({above, part}, folder.substr(0, end));
      handle = above.open_folder(part);
      begin = end + 1;
    }
    return handle;
  }

  void make_folder(const Place& place, const std::string& name) {
    const auto [found, is_new] = entries.try_emplace(name, Kind::folder);
    if (!is_new && found->second != Kind::folder) refuse(name, "appears as a file or link, and then as a folder");
    if (is_new) place.folder.make_folder(place.name);
  }

  // Makes room for an entry that is not a folder.
  Place make_room(const std::string& name, Kind kind) {
    note_top(name);
    Place place = place_of(name);
    const auto [found, is_new] = entries.try_emplace(name, kind);
    if (is_new) return place;
    if (found->second != kind) refuse(name, "appears twice with different types");
    place.folder.remove_file(place.name);
    return place;
  }

  void end_file() {
    if (!file.is_open()) return;
    file.set_time(std::clamp(file_mtime, k_first_time, std::max(k_first_time, now)));
    file.close();
  }
};

FolderWriter::FolderWriter(const std::filesystem::path& root) : m_state(std::make_unique<State>()) {
  m_state->root_handle = sys::FolderHandle(root);
  m_state->now = static_cast<std::int64_t>(std::time(nullptr));
}

FolderWriter::~FolderWriter() = default;

void FolderWriter::folder(const std::string& name) {
  m_state->end_file();
  m_state->note_top(name);
  m_state->make_folder(m_state->place_of(name), name);
}

void FolderWriter::file(const std::string& name, unsigned mode, std::int64_t mtime) {
  m_state->end_file();
  const State::Place place = m_state->make_room(name, Kind::file);
  m_state->file = place.folder.make_file(place.name);
  m_state->file_mtime = mtime;
  m_state->file.set_mode((mode & 0111) != 0 ? 0755 : 0644);
}

void FolderWriter::write(Bytes bytes) { m_state->file.write(bytes); }

void FolderWriter::symlink(const std::string& name, const std::string& target) {
  m_state->end_file();
  if (!link_stays_inside(name, target)) {
    m_state->refuse(name, fmt::format("is a link to {}, outside the archive's folder", printable(target)));
  }
  if (*climb_of_link(target) == depth_of(name)) m_state->link_to_top = name;
  const State::Place place = m_state->make_room(name, Kind::symlink);
  place.folder.make_symlink(place.name, target);
}

void FolderWriter::hard_link(const std::string& name, const std::string& target) {
  m_state->end_file();
  const auto found = m_state->entries.find(target);
  if (found == m_state->entries.end() || found->second != Kind::file || name == target) {
    m_state->refuse(
        name, fmt::format("is a hard link to {}, which is not an earlier file of the archive", printable(target)));
  }
  const std::size_t slash = target.rfind('/');
  const bool below = slash != std::string::npos;
  const sys::FolderHandle opened = below ? m_state->open_all(target.substr(0, slash)) : sys::FolderHandle();
  const State::Place place = m_state->make_room(name, Kind::file);
  place.folder.make_hard_link(place.name, below ? opened : m_state->root_handle,
                              below ? target.substr(slash + 1) : target);
}

void FolderWriter::finish() { m_state->end_file(); }

std::optional<std::string> FolderWriter::only_folder() const {
  const auto found = m_state->entries.find(m_state->top);
  if (!m_state->one_top || found == m_state->entries.end() || found->second != Kind::folder) return {};
  return m_state->top;
}

void FolderWriter::check_strip() const {
  if (m_state->link_to_top.empty()) return;
  m_state->refuse(m_state->link_to_top, "is a link that points outside the archive's folder");
}

}  // namespace wheelsmith::source
