#include "store/store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "store/impl.h"
#include "sys/file.h"

namespace wheelsmith::store {

namespace {

constexpr std::uint64_t k_note_limit = 256ull << 20;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Store::Store(std::filesystem::path root) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(root, error);
  m_impl = std::make_unique<Impl>((error ? root : whole).lexically_normal());
  m_impl->writing([&] {
    std::filesystem::create_directories(m_impl->root);
    if (!std::filesystem::is_directory(m_impl->root))
      throw std::system_error(std::make_error_code(std::errc::not_a_directory));
  });
  refuse_foreign_store(m_impl->root);
  // Only an empty folder becomes a store as a whole.
  if (!std::filesystem::is_empty(m_impl->root, error) || error) return;
  try {
    sys::write_file(m_impl->root / k_tag_name, k_tag);
  } catch (const Error&) {
    // An empty read-only store has nothing to collect.
  }
}

Store::~Store() = default;

std::filesystem::path Store::default_root() {
  if (const std::string root = variable("WHEELSMITH_STORE"); !root.empty()) return root;
  // The XDG specification says to ignore relative paths.
  if (const std::string cache = variable("XDG_CACHE_HOME"); cache.starts_with('/'))
    return std::filesystem::path(cache) / "wheelsmith";
  if (const std::string home = variable("HOME"); !home.empty())
    return std::filesystem::path(home) / ".cache" / "wheelsmith";
  throw Error("no folder for the store: HOME is not set; choose one with --store or WHEELSMITH_STORE");
}

const std::filesystem::path& Store::root() const { return m_impl->root; }

std::filesystem::path Store::folder(std::string_view name) const {
  const std::filesystem::path folder = m_impl->root / name;
  std::error_code ignored;  // lookups work without it; writers call temporary() first
  std::filesystem::create_directories(folder, ignored);
  return folder;
}

std::filesystem::path Store::temporary() const {
  m_impl->writing([&] { m_impl->scratch.folder(); });
  return m_impl->scratch.folder();
}

std::filesystem::path Store::tree(std::string_view identity) const { return m_impl->root / "trees" / slug(identity); }
std::filesystem::path Store::env(std::string_view key) const { return m_impl->root / "envs" / key; }
std::filesystem::path Store::toolkit(std::string_view key) const { return m_impl->root / "toolkits" / key; }

bool Store::is_complete(const std::filesystem::path& folder) const {
  std::error_code error;
  if (!std::filesystem::is_regular_file(folder / k_complete_mark, error)) return false;
  touch(folder / k_complete_mark);
  return true;
}

void Store::complete(const std::filesystem::path& folder) { m_impl->write(folder / k_complete_mark, ""); }

void Store::mark_used(const std::filesystem::path& path) const {
  std::error_code error;
  const std::filesystem::path mark = path / k_complete_mark;
  touch(std::filesystem::exists(mark, error) ? mark : path);
}

std::optional<std::string> Store::remembered(std::string_view kind, std::string_view subject,
                                             std::string_view fingerprint) const {
  return m_impl->index.remembered(kind, subject, fingerprint);
}

void Store::remember(std::string_view kind, std::string_view subject, std::string_view fingerprint,
                     std::string_view facts) {
  m_impl->index.remember(kind, subject, fingerprint, facts);
}

void Store::put_note(std::string_view kind, std::string_view name, std::string_view text) {
  const std::filesystem::path folder = m_impl->writable("notes/" + slug(kind));
  m_impl->write(folder / (slug(name) + ".json"), with_digest(text));
}

std::optional<std::string> Store::note(std::string_view kind, std::string_view name) const {
  const auto file = sys::read_file_if_there(m_impl->root / "notes" / slug(kind) / (slug(name) + ".json"), k_note_limit);
  return file ? without_digest(*file) : std::nullopt;
}

sys::FileLock Store::lock(std::string_view name) const {
  m_impl->writable("locks");
  return sys::FileLock(m_impl->lock_file(name));
}

std::optional<sys::FileLock> Store::try_lock(std::string_view name) const {
  m_impl->writable("locks");
  return sys::FileLock::try_take(m_impl->lock_file(name));
}

Store::Stats Store::stats() const {
  Stats stats;
  for (const char* name : {"blobs", "downloads", "envs", "git", "history", "logs", "notes", "objects", "shims", "steps",
                           "tmp", "toolkits", "trees", "tries", "units"}) {
    const Usage sum = usage(m_impl->root / name);
    stats.parts.push_back({name, sum.files, sum.bytes});
    if (std::string_view(name) == "steps") stats.steps = sum.files;
  }
  return stats;
}

}  // namespace wheelsmith::store
