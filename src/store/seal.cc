#include "store/seal.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <system_error>

#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/file_state.h"
#include "sys/files.h"

// The format of a seal: records that end with a NUL byte, since names may contain any other byte.
//
//   wheelsmith seal 1 BOOT                      the boot in which it was written
//   d NAME                                      a folder
//   f SIZE SHA256 EXECUTABLE STAT NAME          a file
//   l NAME, then the link's target              a link
//   end SHA256                                  of everything before it
//
// Reading 2 GB of torch before each build would take seconds, so a file with an unchanged stat counts as unchanged.
// There are two exceptions. After a machine crash everything is read once, since nothing here was synced. A file that
// was changed less than 2 s before it was read has no STAT here ("-"), because another change may not show in it
// (sys/file_state.h): it is read once more.

namespace wheelsmith::store {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_seal_title = "wheelsmith seal 1 ";
constexpr std::string_view k_seal_end = "end ";
constexpr std::string_view k_memory_kind = "sealed";
constexpr std::uint64_t k_seal_limit = 1ull << 30;

struct SealedEntry {
  char kind = 'f';  // 'd', 'f', 'l'
  std::string name;
  std::uint64_t size = 0;
  bool executable = false;
  std::string sha256{};  // of a file; a link's target
  std::string stat{};
  bool settled = true;
};

std::string boot_id() {
  const auto text = sys::read_file_if_possible("/proc/sys/kernel/random/boot_id", 4096);
  return text ? std::string(trim(*text)) : "";
}

std::string stat_text(const struct stat& status) {
  return fmt::format("{:x}:{:x}:{}.{:09}:{}.{:09}", status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
}

SealedEntry described_entry(const fs::path& path, std::string name, std::int64_t now) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) sys::throw_sys_error(errno, "read", path);
  SealedEntry entry;
  entry.name = std::move(name);
  entry.kind = S_ISDIR(status.st_mode) ? 'd' : S_ISLNK(status.st_mode) ? 'l' : S_ISREG(status.st_mode) ? 'f' : '?';
  if (entry.kind == 'l') {
    std::error_code error;
    entry.sha256 = fs::read_symlink(path, error).string();
    if (error) sys::throw_sys_error(error.value(), "read", path);
  }
  if (entry.kind == 'f') {
    entry.size = static_cast<std::uint64_t>(status.st_size);
    entry.executable = (status.st_mode & 0111) != 0;
    entry.stat = stat_text(status);
    entry.settled = sys::is_settled(status, now);
  }
  return entry;
}

// Everything below the folder except its mark, by name. Links are not followed.
std::vector<SealedEntry> walk(const fs::path& root) {
  const std::int64_t now = sys::file_clock_nanoseconds();
  std::vector<SealedEntry> entries;
  std::vector<std::string> folders{""};
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    std::error_code error;
    fs::directory_iterator at(root / folder, error), end;
    for (; !error && at != end; at.increment(error)) {
      std::string name = folder + at->path().filename().string();
      if (name == k_complete_mark) continue;
      entries.push_back(described_entry(root / name, name, now));
      if (entries.back().kind == 'd') folders.push_back(name + "/");
    }
    if (error) sys::throw_sys_error(error.value(), "read", root / folder);
  }
  std::ranges::sort(entries, {}, &SealedEntry::name);
  return entries;
}

std::string sha256_of_entry(const fs::path& path) { return to_hex(sha256(sys::map_file(path).bytes)); }

// Files only: read-only folders make `rm -rf` of a store fail. The seal detects entries added or replaced in them.
void take_write_permission(const fs::path& root, const std::vector<SealedEntry>& entries) {
  for (const SealedEntry& entry : entries) {
    if (entry.kind != 'f') continue;
    const fs::path path = root / entry.name;
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0) sys::throw_sys_error(errno, "read", path);
    const mode_t wanted = status.st_mode & 07555;
    if ((status.st_mode & 07777) != wanted && ::chmod(path.c_str(), wanted) != 0)
      sys::throw_sys_error(errno, "set the mode of", path);
  }
}

struct Seal {
  std::string boot, digest;
  std::vector<SealedEntry> entries;
};

std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

// Nothing for an incomplete seal.
std::optional<Seal> parse_seal(std::string_view text) {
  const std::size_t last = text.size() < 2 ? text.npos : text.rfind('\0', text.size() - 2);
  if (last == text.npos || text.back() != '\0') return std::nullopt;
  const std::string_view body = text.substr(0, last + 1);
  Seal seal;
  seal.digest = to_hex(sha256(Bytes(body)));
  if (text.substr(last + 1) != std::string(k_seal_end) + seal.digest + '\0') return std::nullopt;
  std::vector<std::string_view> records = split(body.substr(0, body.size() - 1), '\0');
  if (!records.front().starts_with(k_seal_title)) return std::nullopt;
  seal.boot = records.front().substr(k_seal_title.size());
  for (std::size_t i = 1; i < records.size(); ++i) {
    std::string_view rest = records[i];
    SealedEntry entry;
    const std::string_view kind = take_word(rest);
    if (kind.size() != 1) return std::nullopt;
    entry.kind = kind[0];
    if (entry.kind == 'f') {
      const auto size = to_number(take_word(rest));
      if (!size) return std::nullopt;
      entry.size = *size;
      entry.sha256 = take_word(rest);
      entry.executable = take_word(rest) == "x";
      entry.stat = take_word(rest);
    }
    entry.name = rest;
    if (entry.kind == 'l') {
      if (++i == records.size()) return std::nullopt;
      entry.sha256 = records[i];
    }
    seal.entries.push_back(std::move(entry));
  }
  return seal;
}

// One text that changes with the stat of any file, or with the seal.
std::string fingerprint_of(const std::vector<SealedEntry>& entries, const std::string& seal) {
  std::string text = seal;
  for (const SealedEntry& entry : entries) {
    text += fmt::format("{} {} {} {} {}", entry.kind, entry.size, entry.executable, entry.stat, entry.name);
    text += '\0';
    if (entry.kind == 'l') text += entry.sha256 + '\0';
  }
  return to_hex(sha256(Bytes(text)));
}

bool is_bytecode(const SealedEntry& entry) {
  return (entry.kind == 'f' && entry.name.find("__pycache__/") != std::string::npos) ||
         (entry.kind == 'd' && entry.name.ends_with("__pycache__"));
}

class Comparison {
 public:
  Comparison(const fs::path& folder, const Seal& seal, const std::vector<SealedEntry>& found, bool read_all)
      : m_folder(folder), m_seal(seal), m_found(found), m_read_all(read_all) {}

  SealState run() {
    auto now = m_found.begin();
    for (const SealedEntry& wanted : m_seal.entries) {
      for (; now != m_found.end() && now->name < wanted.name; ++now) added(*now);
      if (now == m_found.end() || now->name != wanted.name) {
        differs(wanted.name, "is missing");
        continue;
      }
      compare(wanted, *now++);
    }
    for (; now != m_found.end(); ++now) added(*now);
    read_suspects();
    return std::move(m_state);
  }

 private:
  void differs(const std::string& name, const char* how) {
    const std::lock_guard guard(m_mutex);
    const std::string what = fmt::format("{} {}", printable(name), how);
    if (m_state.kind == SealState::Kind::damaged && m_state.what <= what) return;
    m_state.kind = SealState::Kind::damaged;
    m_state.what = what;
  }

  void added(const SealedEntry& entry) {
    if (is_bytecode(entry))
      m_state.bytecode.push_back(entry.name);
    else
      differs(entry.name, "was added");
  }

  void compare(const SealedEntry& wanted, const SealedEntry& now) {
    if (wanted.kind != now.kind || wanted.size != now.size || wanted.executable != now.executable)
      return differs(wanted.name, "was changed");
    if (wanted.kind == 'l' && wanted.sha256 != now.sha256) return differs(wanted.name, "was changed");
    const bool known = wanted.stat == now.stat && m_seal.boot == m_boot && !m_boot.empty();
    if (wanted.kind == 'f' && (m_read_all || !known)) m_suspects.push_back(&wanted);
  }

  void read_suspects() {
    if (m_state.kind == SealState::Kind::damaged) return;
    parallel_for(m_suspects.size(), usable_threads(), [&](std::size_t i) {
      const SealedEntry& wanted = *m_suspects[i];
      const auto file = sys::map_file_if_possible(m_folder / wanted.name);
      if (!file || to_hex(sha256(file->bytes)) != wanted.sha256) differs(wanted.name, "was changed");
    });
  }

  const fs::path& m_folder;
  const Seal& m_seal;
  const std::vector<SealedEntry>& m_found;
  bool m_read_all;
  std::string m_boot = boot_id();
  std::vector<const SealedEntry*> m_suspects;
  std::mutex m_mutex;
  SealState m_state;
};

}  // namespace

std::string make_seal(const fs::path& folder, bool read_only) {
  if (read_only) take_write_permission(folder, walk(folder));
  std::vector<SealedEntry> entries = walk(folder);
  parallel_for(entries.size(), usable_threads(), [&](std::size_t i) {
    if (entries[i].kind == 'f') entries[i].sha256 = sha256_of_entry(folder / entries[i].name);
  });
  std::string text = std::string(k_seal_title) + boot_id() + '\0';
  for (const SealedEntry& entry : entries) {
    if (entry.kind == '?')
      throw Error(fmt::format("{} is not a file, link or folder", printable((folder / entry.name).string())));
    text += entry.kind;
    text += ' ';
    if (entry.kind == 'f')
      text += fmt::format("{} {} {} {} ", entry.size, entry.sha256, entry.executable ? "x" : "-",
                          entry.settled ? entry.stat : "-");
    text += entry.name + '\0';
    if (entry.kind == 'l') text += entry.sha256 + '\0';
  }
  return text + std::string(k_seal_end) + to_hex(sha256(Bytes(text))) + '\0';
}

SealState check_seal(const fs::path& folder, Index& memory, bool read_all) {
  const auto text = sys::read_file_if_possible(folder / k_complete_mark, k_seal_limit);
  if (!text || text->empty()) return {SealState::Kind::unfinished};
  const std::optional<Seal> seal = parse_seal(*text);
  if (!seal) return {SealState::Kind::damaged, std::string(k_complete_mark) + " was changed"};
  try {
    const std::vector<SealedEntry> found = walk(folder);
    const std::string subject = fmt::format("{} {}", folder.string(), boot_id());
    const std::string fingerprint = fingerprint_of(found, seal->digest);
    if (!read_all && memory.remembered(k_memory_kind, subject, fingerprint)) return {};
    SealState state = Comparison(folder, *seal, found, read_all).run();
    if (state.kind == SealState::Kind::intact && state.bytecode.empty() &&
        std::ranges::all_of(found, &SealedEntry::settled))
      memory.remember(k_memory_kind, subject, fingerprint, "intact");
    return state;
  } catch (const Error& error) {  // an unreadable folder counts as damaged
    return {SealState::Kind::damaged, error.what()};
  }
}

void remove_bytecode(const fs::path& folder, const SealState& state) {
  for (auto name = state.bytecode.rbegin(); name != state.bytecode.rend(); ++name) {
    const fs::path path = folder / *name;
    std::error_code ignored;
    struct stat parent{};
    if (::stat(path.parent_path().c_str(), &parent) != 0) continue;
    ::chmod(path.parent_path().c_str(), 0755);
    fs::remove(path, ignored);
    ::chmod(path.parent_path().c_str(), parent.st_mode & 07777);
  }
}

}  // namespace wheelsmith::store
