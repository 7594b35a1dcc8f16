#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/attempt.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "store/impl.h"
#include "sys/file.h"
#include "sys/file_state.h"
#include "sys/process/own_process.h"
#include "sys/shared_folder.h"

// The write order makes a kill harmless: a blob is synced and named before the step that refers to it, and a step
// without a blob does not count.

namespace wheelsmith::store {

namespace {

constexpr std::uint64_t k_file_limit = 64ull << 20;
constexpr std::uint64_t k_history_tail = 16 << 10;
constexpr std::size_t k_most_examined = 32;  // steps of one identity

[[noreturn]] void refuse() { throw std::system_error(errno, std::generic_category()); }

void refuse_if(std::error_code error) {
  if (error) throw std::system_error(error);
}

// Syncs to disk and makes the file read-only.
void seal_file(const std::filesystem::path& file) {
  if (::chmod(file.c_str(), 0444) != 0) refuse();
  refuse_if(sys::sync_file(file));
}

bool has_size(const std::filesystem::path& file, std::uint64_t size) {
  struct stat status{};
  return ::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         static_cast<std::uint64_t>(status.st_size) == size;
}

struct RemovedAtEnd {
  std::filesystem::path path;
  ~RemovedAtEnd() { ::unlink(path.c_str()); }
};

struct DatedCost {
  Cost cost;
  std::int64_t at = 0;
};

std::optional<DatedCost> last_cost_in(const std::filesystem::path& file, std::string_view identity) {
  // An unreadable file costs a forecast, not a build.
  const auto whole = sys::map_file_if_possible(file);
  if (!whole) return std::nullopt;
  const std::uint64_t size = whole->bytes.size();
  const std::vector<std::string_view> all = lines(whole->bytes.from(size - std::min(size, k_history_tail)).text());
  for (auto line = all.rbegin(); line != all.rend(); ++line) {
    const auto text = history_text(*line);
    const auto value = text ? document::try_parse_json(*text) : std::nullopt;
    // The last line may be cut off by a full disk, the first one by the start of the tail.
    if (!value || (*value)["identity"].text_or() != to_valid_utf8(identity)) continue;
    const auto count = [&](std::string_view name) {
      return static_cast<std::uint64_t>(std::max<std::int64_t>((*value)[name].integer_or(0), 0));
    };
    return DatedCost{{(*value)["seconds"].number(), count("wheel_size"), count("disk")}, (*value)["at"].integer_or(0)};
  }
  return std::nullopt;
}

}  // namespace

// The copy is hashed, so a file that changes while it is copied still gets the name of the stored bytes.
std::string Store::put_blob(const std::filesystem::path& file) {
  const std::filesystem::path folder = m_impl->writable("blobs");
  m_impl->writing([&] { m_impl->scratch.folder(); });
  const RemovedAtEnd copy{m_impl->scratch.next("blob")};
  sys::copy_file(file, copy.path);
  m_impl->writing([&] {
    if (::chmod(copy.path.c_str(), 0644) != 0) refuse();
  });
  const Blob bytes = sys::map_file(copy.path);
  const std::string name = to_hex(sha256(bytes.bytes));
  const std::filesystem::path target = folder / name;
  // A good copy stays; a damaged one is replaced.
  if (has_size(target, bytes.bytes.size()) && has_sha256(target, name)) {
    touch(target);
    return name;
  }
  m_impl->writing([&] {
    seal_file(copy.path);
    if (::rename(copy.path.c_str(), target.c_str()) != 0) refuse();
    refuse_if(sys::sync_folder(folder));
  });
  return name;
}

// A lookup would otherwise read the whole file, so a good file is remembered by its stat. A file that was just written
// is read again by the next lookup.
bool Store::has_sha256(const std::filesystem::path& path, std::string_view sha256) const {
  const sys::FileState state(path);
  if (state.key().empty()) return false;
  if (m_impl->index.remembered("sha256", path.string(), state.key()) == sha256) return true;
  const auto file = sys::map_file_if_possible(path);
  if (!file || to_hex(wheelsmith::sha256(file->bytes)) != sha256) return false;
  if (const auto key = state.key_to_keep()) m_impl->index.remember("sha256", path.string(), *key, sha256);
  return true;
}

std::optional<std::filesystem::path> Store::blob(std::string_view sha256) const {
  if (!is_sha256(sha256)) return std::nullopt;
  const std::filesystem::path path = m_impl->root / "blobs" / sha256;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  return path;
}

void Store::discard_damaged_blob(std::string_view sha256) {
  if (!is_sha256(sha256)) return;
  std::error_code ignored;
  std::filesystem::remove(m_impl->root / "blobs" / sha256, ignored);
}

void Store::drop_blob(std::string_view sha256) {
  if (!is_sha256(sha256)) return;
  m_impl->bring_index_up_to_date();
  const std::vector<Index::Row> rows = m_impl->index.rows();
  if (std::any_of(rows.begin(), rows.end(), [&](const Index::Row& row) { return row.wheel_sha256 == sha256; })) return;
  std::error_code ignored;
  std::filesystem::remove(m_impl->root / "blobs" / sha256, ignored);
}

void Store::put_step(const StepRecord& record) {
  m_impl->writable("steps");
  m_impl->write(m_impl->step_file(record.key), document::to_json(record.to_value(), 1) + "\n");
  m_impl->index.add({record.key, record.identity, record.wheel_sha256, record.finished});
}

std::optional<StepRecord> Store::find_step(std::string_view key) const {
  const std::filesystem::path file = m_impl->step_file(key);
  std::optional<StepRecord> record = read_step(file);
  if (!record || record->key != key || !is_sha256(record->wheel_sha256)) return std::nullopt;
  const std::filesystem::path wheel = m_impl->root / "blobs" / record->wheel_sha256;
  if (record->wheel_size == 0 ? !blob(record->wheel_sha256) : !has_size(wheel, record->wheel_size)) return std::nullopt;
  if (!has_sha256(wheel, record->wheel_sha256)) return std::nullopt;
  touch(file);
  return record;
}

std::optional<StepRecord> Store::newest_step(std::string_view identity) const {
  m_impl->bring_index_up_to_date();
  for (const std::string& key : m_impl->index.newest(identity)) {
    std::optional<StepRecord> record = find_step(key);
    if (record && record->identity == identity) return record;
  }
  return std::nullopt;
}

std::optional<StepRecord> Store::newest_step(std::string_view identity,
                                             const std::function<bool(const StepRecord&)>& matches) const {
  m_impl->bring_index_up_to_date();
  std::size_t examined = 0;
  for (const std::string& key : m_impl->index.newest(identity)) {
    if (++examined > k_most_examined) break;
    const std::optional<StepRecord> record = read_step(m_impl->step_file(key));
    if (!record || record->key != key || record->identity != identity || !matches(*record)) continue;
    if (std::optional<StepRecord> sound = find_step(key)) return sound;
  }
  return std::nullopt;
}

void Store::put_seen(std::string_view key, std::string_view text) {
  m_impl->writable("seen");
  m_impl->write(m_impl->seen_file(key), with_digest(text));
}

void Store::drop_seen(std::string_view key) {
  std::error_code ignored;
  std::filesystem::remove(m_impl->seen_file(key), ignored);
}

std::optional<std::string> Store::seen(std::string_view key) const {
  const auto text = sys::read_file_if_possible(m_impl->seen_file(key), k_file_limit);
  return text ? without_digest(*text) : std::nullopt;
}

void Store::note_try(std::string_view identity, const Manifest& manifest) {
  const std::filesystem::path folder = m_impl->writable("tries");
  document::Table table;
  table["schema"] = 1;
  table["identity"] = identity;
  table["manifest"] = manifest.to_value();
  m_impl->write(folder / (slug(identity) + ".json"), with_digest(document::to_json(table, 1) + "\n"));
}

std::optional<Manifest> Store::last_try(std::string_view identity) const {
  // An unreadable file only loses the reason for a rebuild, not the build.
  const auto text = sys::read_file_if_possible(m_impl->root / "tries" / (slug(identity) + ".json"), k_file_limit);
  const auto sound = text ? without_digest(*text) : std::nullopt;
  const auto value = sound ? document::try_parse_json(*sound) : std::nullopt;
  if (!value || (*value)["identity"].text_or() != to_valid_utf8(identity)) return std::nullopt;
  return if_valid([&] { return Manifest::from_value((*value)["manifest"]); });
}

// One line per build, appended by a single write, so that lines of two processes do not mix.
void Store::note_cost(std::string_view identity, const Cost& cost) {
  // Appending is not atomic between machines: each has its own file.
  const std::string suffix = is_shared() ? "@" + slug(sys::host_name()) : "";
  const std::filesystem::path file = m_impl->writable("history") / (slug(identity) + suffix + ".json");
  document::Table table;
  table["identity"] = identity;
  table["seconds"] = cost.seconds;
  table["wheel_size"] = cost.wheel_size;
  table["disk"] = cost.disk;
  table["at"] = seconds_now();
  const std::string line = history_line(document::to_json(table, -1));
  m_impl->writing([&] { refuse_if(sys::append_text(file, line)); });
}

std::optional<Cost> Store::last_cost(std::string_view identity) const {
  const std::filesystem::path folder = m_impl->root / "history";
  const std::string stem = slug(identity);
  std::vector<std::string> files{stem + ".json"};
  if (is_shared()) {
    for (const std::string& name : names_in(folder)) {
      if (name.starts_with(stem + "@")) files.push_back(name);
    }
  }
  std::optional<DatedCost> newest;
  for (const std::string& name : files) {
    const auto cost = last_cost_in(folder / name, identity);
    if (cost && (!newest || cost->at > newest->at)) newest = cost;
  }
  return newest ? std::optional<Cost>(newest->cost) : std::nullopt;
}

}  // namespace wheelsmith::store
