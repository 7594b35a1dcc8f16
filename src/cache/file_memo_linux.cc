#include <fmt/format.h>

#include <functional>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "cache/file_memo.h"
#include "sys/file_state.h"
#include "sys/files.h"

namespace wheelsmith::cache {

namespace {

constexpr std::uint64_t k_largest_source = 256 << 20;
constexpr std::uint64_t k_largest_program = 4ULL << 30;
constexpr std::size_t k_most_names = 200'000;
constexpr std::size_t k_piece = 1 << 20;
constexpr std::size_t k_largest_digests = 1 << 20;

std::string raw(const Digest& digest) { return {digest.begin(), digest.end()}; }

std::string line_key(const std::string& path, const sys::PathState& state) {
  return fmt::format("{} {} {} {} {} {}", state.device, state.stat.inode, state.stat.size, state.stat.modified,
                     state.stat.changed, to_hex(sha256(Bytes(path))));
}

}  // namespace

bool is_settled(const sys::PathState& state, std::int64_t now) {
  return sys::is_settled(state.stat.modified, state.stat.changed, now);
}

FileMemo::FileMemo(std::string digests_file) : m_digests_file(std::move(digests_file)) {
  if (m_digests_file.empty()) return;
  const std::string text = sys::read_file_if_possible(m_digests_file, k_largest_digests).value_or("");
  for (const std::string_view line : lines(text)) {
    const std::size_t blank = line.rfind(' ');
    if (blank != line.npos && line.size() - blank == 65)
      m_digests[std::string(line.substr(0, blank))] = line.substr(blank + 1);
  }
}

std::size_t FileMemo::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = key.inode * 0x9E3779B97F4A7C15ULL;
  hash ^= static_cast<std::uint64_t>(key.changed) + 0x7F4A7C15 + (hash << 6) + (hash >> 2);
  return static_cast<std::size_t>(hash ^ key.device ^ (key.size << 20));
}

FileMemo::Key FileMemo::key_of(const sys::PathState& state) {
  return {state.device, state.stat.inode, state.stat.size, state.stat.modified, state.stat.changed};
}

std::optional<FileMemo::Known> FileMemo::file(const sys::RootView& view, const std::string& path) {
  const auto state = view.state(path);
  if (!state || state->kind != sys::PathState::Kind::file || state->stat.size > k_largest_source) return std::nullopt;
  {
    const std::lock_guard guard(m_mutex);
    if (const auto found = m_files.find(key_of(*state)); found != m_files.end()) return Known{found->second, *state};
  }
  const std::int64_t now = sys::file_clock_nanoseconds();
  const auto open = view.open_file(path);
  if (!open || open->state.stat.size > k_largest_source) return std::nullopt;
  std::string text(open->state.stat.size, '\0');
  try {
    const std::size_t got = open->file.read_at(0, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
    // A file that grows or shrinks while it is read has no stable content yet.
    if (got != text.size() || !(open->file.stat_now() == open->state.stat)) return std::nullopt;
  } catch (const Error&) {  // a disk error counts as a missing file
    return std::nullopt;
  }
  auto facts = std::make_shared<Facts>();
  facts->digest = raw(sha256(Bytes(text)));
  facts->text = scan_text(text);
  if (is_settled(open->state, now)) {
    const std::lock_guard guard(m_mutex);
    m_files.emplace(key_of(open->state), facts);
  }
  return Known{facts, open->state};
}

std::string FileMemo::digest(const sys::RootView& view, const std::string& path) {
  const std::int64_t now = sys::file_clock_nanoseconds();
  const auto open = view.open_file(path);
  if (!open || open->state.stat.size > k_largest_program) return "";
  const std::string key = line_key(path, open->state);
  {
    const std::lock_guard guard(m_mutex);
    if (const auto found = m_digests.find(key); found != m_digests.end()) return found->second;
  }
  Sha256 hash;
  std::vector<std::uint8_t> piece(k_piece);
  try {
    for (std::uint64_t at = 0;;) {
      const std::size_t got = open->file.read_at(at, piece);
      if (got == 0) break;
      hash.update(Bytes(piece.data(), got));
      at += got;
    }
    if (!(open->file.stat_now() == open->state.stat)) return "";
  } catch (const Error&) {  // as in file()
    return "";
  }
  const std::string digest = to_hex(hash.finish());
  if (is_settled(open->state, now)) {
    const std::lock_guard guard(m_mutex);
    m_digests[key] = digest;
    // Several builds append concurrently: each line is one write.
    if (!m_digests_file.empty()) (void)sys::append_text(m_digests_file, key + " " + digest + "\n");
  }
  return digest;
}

std::shared_ptr<const FileMemo::Names> FileMemo::folder(const sys::RootView& view, const std::string& path) {
  const std::int64_t now = sys::file_clock_nanoseconds();
  const auto state = view.state(path);
  if (!state || state->kind != sys::PathState::Kind::folder) return nullptr;
  {
    const std::lock_guard guard(m_mutex);
    if (const auto found = m_folders.find(key_of(*state)); found != m_folders.end()) return found->second;
  }
  const auto names = view.names(path, k_most_names);
  if (!names) throw Error("a folder has too many names");
  auto result = std::make_shared<const Names>(names->begin(), names->end());
  if (is_settled(*state, now)) {
    const std::lock_guard guard(m_mutex);
    m_folders.emplace(key_of(*state), result);
  }
  return result;
}

}  // namespace wheelsmith::cache
