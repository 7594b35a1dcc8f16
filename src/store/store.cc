#include "store/store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
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

Store::Store(std::filesystem::path root, StoreOptions options)
    : m_impl(std::make_unique<Impl>(root, std::move(options))) {}

Store::~Store() = default;

std::filesystem::path Store::default_root() {
  // It may name remote stores, too: "DIR,https://…".
  std::string root = variable("WHEELSMITH_STORE");
  root.resize(std::min(root.find(",http"), root.size()));
  if (!root.empty() && root.find("://") == root.npos) return root;
  // The XDG specification says to ignore relative paths.
  if (const std::string cache = variable("XDG_CACHE_HOME"); cache.starts_with('/'))
    return std::filesystem::path(cache) / "wheelsmith";
  if (const std::string home = variable("HOME"); !home.empty())
    return std::filesystem::path(home) / ".cache" / "wheelsmith";
  throw Error("no folder for the store: HOME is not set; choose one with --store or WHEELSMITH_STORE");
}

const std::filesystem::path& Store::root() const { return m_impl->root; }
const std::filesystem::path& Store::local_root() const { return m_impl->local; }
std::vector<std::filesystem::path> Store::roots() const {
  return is_shared() ? std::vector{m_impl->root, m_impl->local} : std::vector{m_impl->root};
}
const StoreOptions& Store::options() const { return m_impl->options; }
bool Store::is_shared() const { return m_impl->sharing.shared; }

void Store::set_shared(const std::filesystem::path& root, bool shared) {
  const Store store(root);
  write_sharing(store.root(), shared);
}

std::filesystem::path Store::folder(std::string_view name) const {
  const std::filesystem::path folder = m_impl->place(name);
  std::error_code ignored;  // lookups work without it; writers call temporary() first
  std::filesystem::create_directories(folder, ignored);
  return folder;
}

std::filesystem::path Store::temporary() const {
  m_impl->writing([&] { m_impl->temporary().folder(); });
  return m_impl->temporary().folder();
}

std::filesystem::path Store::staging() const {
  m_impl->writing([&] { m_impl->scratch.folder(); });
  return m_impl->scratch.folder();
}

std::filesystem::path Store::tree(std::string_view identity) const { return m_impl->place("trees") / slug(identity); }
std::filesystem::path Store::env(std::string_view key) const { return m_impl->place("envs") / key; }
std::filesystem::path Store::toolkit(std::string_view key) const { return m_impl->place("toolkits") / key; }

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

Lock Store::lock(std::string_view name, const std::function<void(const std::string&)>& on_wait) const {
  return m_impl->lock(name, on_wait);
}

std::optional<Lock> Store::try_lock(std::string_view name) const { return m_impl->try_lock(name); }

Store::Stats Store::stats() const {
  Stats stats;
  for (const char* name : {"blobs", "downloads", "envs", "git", "history", "logs", "notes", "objects", "seen", "shims",
                           "steps", "tmp", "toolkits", "trees", "tries", "units"}) {
    const Usage sum = usage(m_impl->place(name));
    stats.parts.push_back({name, sum.files, sum.bytes});
    if (std::string_view(name) == "steps") stats.steps = sum.files;
  }
  return stats;
}

}  // namespace wheelsmith::store
