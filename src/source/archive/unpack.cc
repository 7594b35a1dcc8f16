#include <fmt/format.h>

#include <chrono>

#include "archive/archive.h"
#include "base/error.h"
#include "base/text.h"
#include "source/archive/archive_walk.h"
#include "source/folder/folder_writer.h"
#include "source/source.h"
#include "source/worktree/staging.h"
#include "sys/file.h"
#include "zip/archive.h"

namespace wheelsmith::source {

namespace {

constexpr std::uint64_t k_longest_target = 4096;

// The time of a ZIP entry, taken as UTC: the archive does not specify a time zone.
std::int64_t zip_time(const zip::Entry& entry) {
  using namespace std::chrono;
  const year_month_day day(year(1980 + (entry.date >> 9)), month((entry.date >> 5) & 15u),
                           std::chrono::day(entry.date & 31u));
  if (!day.ok()) return 0;
  const auto time =
      sys_days(day) + hours(entry.time >> 11) + minutes((entry.time >> 5) & 63) + seconds((entry.time & 31) * 2);
  return time.time_since_epoch().count();
}

bool is_zip(Bytes file) { return file.starts_with("PK\3\4") || file.starts_with("PK\5\6"); }

archive::TarEntry from_zip(const zip::Entry& member, const zip::Archive& archive) {
  constexpr std::uint32_t k_kind = 0170000;
  archive::TarEntry entry;
  entry.name = archive::plain_name(member.name);
  entry.size = member.size;
  entry.mtime = zip_time(member);
  const std::uint32_t mode = member.unix_mode();
  if (mode != 0) entry.mode = mode & 07777;
  if (member.is_folder()) {
    entry.kind = archive::TarEntry::Kind::folder;
  } else if (member.is_symlink()) {
    entry.kind = archive::TarEntry::Kind::symlink;
    if (member.size > k_longest_target)
      throw Error(fmt::format("{}: the link's target has {} bytes", entry.name, member.size));
    entry.target = std::string(archive.read(member).bytes.text());
    if (entry.target.find('\0') != std::string::npos)
      throw Error(fmt::format("{}: the link has no target", entry.name));
    entry.size = 0;
  } else if ((mode & k_kind) != 0 && (mode & k_kind) != 0100000 && (mode & k_kind) != 0040000) {
    throw Error(fmt::format("{} is not a file, folder or link", printable(entry.name)));
  }
  return entry;
}

void walk_zip(Bytes file, const std::function<void(const archive::TarEntry&)>& on_entry,
              const std::function<void(Bytes)>& on_content) {
  const zip::Archive archive = zip::Archive::open(file);
  const archive::TarLimits limits;
  std::uint64_t total = 0;
  if (archive.entries().size() > limits.entries) {
    throw Error(fmt::format("it has more than {} entries", limits.entries));
  }
  for (const zip::Entry& member : archive.entries()) {
    const archive::TarEntry entry = from_zip(member, archive);
    if (entry.size > limits.bytes - total)
      throw Error("it unpacks to more than 64 GB, which is not plausible for a source");
    total += entry.size;
    if (entry.name.empty()) continue;
    on_entry(entry);
    if (entry.kind == archive::TarEntry::Kind::file && entry.size != 0) on_content(archive.read(member).bytes);
  }
}

void put(FolderWriter& writer, const archive::TarEntry& entry) {
  switch (entry.kind) {
    case archive::TarEntry::Kind::file: writer.file(entry.name, entry.mode, entry.mtime); break;
    case archive::TarEntry::Kind::folder: writer.folder(entry.name); break;
    case archive::TarEntry::Kind::symlink: writer.symlink(entry.name, entry.target); break;
    case archive::TarEntry::Kind::hardlink: writer.hard_link(entry.name, entry.target); break;
  }
}

}  // namespace

void walk_archive(Bytes file, const std::function<void(const archive::TarEntry&)>& on_entry,
                  const std::function<void(Bytes)>& on_content) {
  if (is_zip(file)) {
    walk_zip(file, on_entry, on_content);
  } else {
    archive::read_tar(file, on_entry, on_content);
  }
}

void unpack(const std::filesystem::path& archive, const std::filesystem::path& folder, bool strip_first) {
  const Blob file = sys::map_file(archive);
  Staging staging(folder);
  try {
    FolderWriter writer(staging.path());
    walk_archive(
        file.bytes, [&](const archive::TarEntry& entry) { put(writer, entry); },
        [&](Bytes piece) { writer.write(piece); });
    writer.finish();
    const std::optional<std::string> only = strip_first ? writer.only_folder() : std::nullopt;
    if (only) writer.check_strip();
    staging.publish(only ? staging.path() / *only : staging.path());
  } catch (const Error& error) {
    throw error.in(archive.filename().string());
  }
}

}  // namespace wheelsmith::source
