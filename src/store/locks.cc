#include <algorithm>
#include <array>

#include "base/error.h"
#include "store/impl.h"
#include "sys/shared_folder.h"

// Where the parts of a store are, and how they are locked.

namespace wheelsmith::store {

namespace {

// The parts that each machine makes for itself, and their locks.
constexpr std::array<std::string_view, 4> k_local_parts = {"trees", "envs", "toolkits", "shims"};
constexpr std::array<std::string_view, 4> k_local_locks = {"tree-", "env-", "toolkit-", "checkout-"};

}  // namespace

std::filesystem::path Store::Impl::place(std::string_view part) const {
  const std::string_view first = part.substr(0, part.find('/'));
  return (std::ranges::find(k_local_parts, first) != k_local_parts.end() ? local : root) / part;
}

Store::Impl::LockPlace Store::Impl::lock_place(std::string_view name) const {
  const bool is_local =
      std::ranges::any_of(k_local_locks, [&](std::string_view prefix) { return name.starts_with(prefix); });
  const std::filesystem::path& base = is_local ? local : root;
  if (is_local ? local_claims : sharing.shared) return {base / "claims" / slug(name), true};
  return {base / "locks" / (slug(name) + ".lock"), false};
}

std::optional<Lock> Store::Impl::try_lock(std::string_view name) const {
  const LockPlace at = lock_place(name);
  writing([&] { std::filesystem::create_directories(at.path.parent_path()); });
  if (at.claim) {
    std::optional<Claim> claim = Claim::try_take(at.path, heart);
    if (!claim) return std::nullopt;
    refresh();
    return Lock(std::move(*claim));
  }
  std::optional<sys::FileLock> lock = sys::FileLock::try_take(at.path);
  return lock ? std::optional<Lock>(Lock(std::move(*lock))) : std::nullopt;
}

Lock Store::Impl::lock(std::string_view name, const std::function<void(const std::string&)>& on_wait) const {
  const LockPlace at = lock_place(name);
  writing([&] { std::filesystem::create_directories(at.path.parent_path()); });
  if (at.claim) {
    Claim claim = Claim::take(at.path, heart, on_wait);
    refresh();
    return Lock(std::move(claim));
  }
  if (on_wait) {
    if (std::optional<sys::FileLock> now = sys::FileLock::try_take(at.path)) return Lock(std::move(*now));
    on_wait("another process");
  }
  return Lock(sys::FileLock(at.path));
}

Lock Store::Impl::shared_lock(std::string_view name) const {
  const LockPlace at = lock_place(name);
  writing([&] { std::filesystem::create_directories(at.path.parent_path()); });
  return at.claim ? Lock(Claim::shared(at.path, heart)) : Lock(sys::FileLock::shared(at.path));
}

// A client of a network file system caches for seconds that a name does not exist. Creating a file in a folder makes it
// ask the server again, so a process that waited for a claim sees the results that its holder published.
void Store::Impl::refresh() const {
  if (!sharing.shared) return;
  for (const char* part : {"steps", "blobs", "downloads"}) {
    try {
      (void)sys::file_system_seconds(root / part);
    } catch (const Error&) {
      // The folder does not exist yet or is not writable.
    }
  }
}

std::int64_t Store::Impl::now() {
  if (!sharing.shared) return seconds_now();
  try {
    return sys::file_system_seconds(root);
  } catch (const Error&) {
    return seconds_now();  // read-only: nothing is collected
  }
}

}  // namespace wheelsmith::store
