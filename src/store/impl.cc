#include "store/impl.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <system_error>

#include "base/attempt.h"
#include "base/error.h"
#include "base/text.h"
#include "sys/clock.h"
#include "sys/file.h"
#include "sys/file_state.h"
#include "sys/shared_folder.h"

// How the index follows the steps folder. A folder's modification time changes whenever an entry is added or removed,
// so one stat() tells whether the index is current, no matter who wrote: another process, another machine, a user with
// rm. Only when it is not are the names listed, and only new ones are read. A listing of a folder that has just changed
// may miss a change within the same tick of the file system's clock, so it is not trusted again (sys/file_state.h).

namespace wheelsmith::store {

namespace {

constexpr std::int64_t k_touch_seconds = 600;
constexpr std::string_view k_extension = ".json";
constexpr std::uint64_t k_step_limit = 64ull << 20;

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// "" for a folder that does not exist or has just changed.
std::string state_of(const std::filesystem::path& folder) {
  const std::int64_t now = sys::file_clock_nanoseconds();
  struct stat status{};
  if (::stat(folder.c_str(), &status) != 0) return "";
  const std::int64_t changed = nanoseconds(status.st_mtim);
  if (!sys::is_settled(status, now)) return "";
  return fmt::format("{}:{}:{}", status.st_dev, status.st_ino, changed);
}

Error write_refusal(const std::filesystem::path& root, const std::error_code& code) {
  return Error(fmt::format("the store {} is not writable: {}; choose another with --store or WHEELSMITH_STORE",
                           printable(root.string()), code.message()));
}

std::filesystem::path made_root(const std::filesystem::path& place) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(place, error);
  std::filesystem::path root = (error ? place : whole).lexically_normal();
  std::filesystem::create_directories(root, error);
  if (!error && !std::filesystem::is_directory(root, error)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) throw write_refusal(root, error);
  refuse_foreign_store(root);
  // Only a folder that was empty belongs to wheelsmith as a whole.
  if (!std::filesystem::is_empty(root, error) || error) return root;
  try {
    sys::write_file(root / k_tag_name, k_tag);
  } catch (const Error&) {
    // An empty store that is read-only has nothing to collect.
  }
  return root;
}

}  // namespace

Store::Impl::Impl(const std::filesystem::path& place, StoreOptions given)
    : root(made_root(place)),
      options(std::move(given)),
      sharing(find_sharing(root)),
      local(sharing.shared ? make_local_root(sharing, options) : root),
      local_claims(sharing.shared && !sys::has_file_locks(local)),
      scratch(root / "tmp", sharing.shared),
      local_scratch(sharing.shared ? std::make_unique<Scratch>(local / "tmp", local_claims) : nullptr),
      index(local / "index.sqlite", local / "locks" / (slug("index") + ".lock")),
      heart(std::make_shared<Heart>(ClaimTiming{options.claim_timeout})) {}

void Store::Impl::writing(const std::function<void()>& task) const {
  std::error_code refused;
  try {
    task();
    return;
  } catch (const std::system_error& error) {
    refused = error.code();
  }
  throw write_refusal(root, refused);
}

std::filesystem::path Store::Impl::writable(std::string_view name) const {
  const std::filesystem::path folder = place(name);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error && !std::filesystem::is_directory(folder, error)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) throw write_refusal(root, error);
  return folder;
}

void Store::Impl::write(const std::filesystem::path& target, std::string_view text) {
  Scratch& used = scratch_for(target);
  writing([&] { used.folder(); });
  sys::AtomicFile file(target, used.folder());
  file.write(text);
  file.commit();
}

Scratch& Store::Impl::scratch_for(const std::filesystem::path& path) {
  return sys::is_within(path, local) ? temporary() : scratch;
}

std::filesystem::path Store::Impl::step_file(std::string_view key) const {
  return root / "steps" / step_file_name(key);
}

std::filesystem::path Store::Impl::seen_file(std::string_view key) const { return root / "seen" / step_file_name(key); }

Store::Impl::Difference Store::Impl::difference() {
  Difference found;
  const std::filesystem::path folder = root / "steps";
  // Taken before the listing, so that later changes are noticed.
  found.state = state_of(folder);
  std::set<std::string> known;
  for (const Index::Row& row : index.rows()) known.insert(row.key);
  for (const std::string& name : names_in(folder)) {
    if (!name.ends_with(k_extension)) continue;
    const std::string stem = name.substr(0, name.size() - k_extension.size());
    if (known.erase(stem) > 0) continue;
    const auto record = read_step(folder / name);
    if (!record || step_file(record->key).filename() != name || known.erase(record->key) > 0) continue;
    found.added.push_back({record->key, record->identity, record->wheel_sha256, record->finished});
  }
  found.gone.assign(known.begin(), known.end());
  return found;
}

void Store::Impl::bring_index_up_to_date() {
  const std::string state = state_of(root / "steps");
  if (!state.empty() && index.state() == state) return;
  const Difference found = difference();
  if (found.added.empty() && found.gone.empty() && found.state.empty()) return;
  index.update(found.added, found.gone, found.state);
}

std::optional<StepRecord> read_step(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) return std::nullopt;
  const auto text = sys::read_file_if_there(file, k_step_limit);
  const auto value = text ? document::try_parse_json(*text) : std::nullopt;
  if (!value) return std::nullopt;
  return if_valid([&] { return StepRecord::from_value(*value); });
}

std::string step_file_name(std::string_view key) {
  return (is_sha256(key) ? std::string(key) : slug(key)) + std::string(k_extension);
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

Usage usage(const std::filesystem::path& path) {
  Usage sum;
  const auto count = [&](const std::filesystem::path& file) {
    struct stat status{};
    if (::lstat(file.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return;
    ++sum.files;
    // A file with two links is freed with the last one: each link counts its share.
    const auto links = static_cast<std::uint64_t>(status.st_nlink > 0 ? status.st_nlink : 1);
    sum.bytes += static_cast<std::uint64_t>(status.st_size) / links;
  };
  std::error_code error;
  if (!std::filesystem::is_directory(std::filesystem::symlink_status(path, error))) {
    count(path);
    return sum;
  }
  using Iterator = std::filesystem::recursive_directory_iterator;
  for (Iterator at(path, std::filesystem::directory_options::skip_permission_denied, error), end; !error && at != end;
       at.increment(error))
    count(at->path());
  return sum;
}

std::int64_t last_used(const std::filesystem::path& path) {
  struct stat status{};
  if (::stat((path / k_complete_mark).c_str(), &status) == 0) return status.st_mtim.tv_sec;
  return ::lstat(path.c_str(), &status) == 0 ? status.st_mtim.tv_sec : 0;
}

std::int64_t seconds_now() { return sys::unix_nanoseconds() / 1'000'000'000; }

void touch(const std::filesystem::path& path) {
  struct stat status{};
  // A resolution of ten minutes saves a disk write for each lookup. A time in the future (the clock was set back) is
  // replaced, because collect() would not remove the file before that time.
  if (::stat(path.c_str(), &status) != 0 || std::abs(seconds_now() - status.st_mtim.tv_sec) < k_touch_seconds) return;
  // Fails on a read-only disk, where nothing is ever collected.
  sys::touch(path);
}

}  // namespace wheelsmith::store
