#include <algorithm>
#include <set>
#include <tuple>

#include "store/impl.h"
#include "sys/file.h"

// Lists finished wheels and removes selected ones (`store ls`, `store rm`).

namespace wheelsmith::store {

std::vector<StoredWheel> Store::wheels() const {
  std::vector<StoredWheel> wheels;
  const std::filesystem::path& root = m_impl->root;
  for (const std::string& name : names_in(root / "steps")) {
    const std::optional<StepRecord> record = read_step(root / "steps" / name);
    // A step without its wheel is not finished.
    if (!record || !blob(record->wheel_sha256)) continue;
    StoredWheel wheel{record->package, record->version, record->wheel_name, record->identity, record->key};
    wheel.bytes = record->wheel_size;
    wheel.finished = record->finished;
    wheel.used = last_used(root / "steps" / name);
    wheels.push_back(std::move(wheel));
  }
  std::sort(wheels.begin(), wheels.end(), [](const StoredWheel& a, const StoredWheel& b) {
    return std::tie(a.package, b.finished, a.key) < std::tie(b.package, a.finished, b.key);
  });
  return wheels;
}

std::uint64_t Store::remove_wheels(const std::vector<StoredWheel>& wheels, bool dry_run, std::vector<Removed>& removed,
                                   std::vector<std::string>& held) {
  const std::filesystem::path& root = m_impl->root;
  if (!dry_run) m_impl->writing([&] { m_impl->scratch.folder(); });
  if (!dry_run) m_impl->writing([&] { m_impl->temporary().folder(); });
  std::uint64_t freed = 0;
  const auto remove = [&](ItemKind kind, const std::filesystem::path& path, const std::string& name,
                          std::uint64_t bytes) {
    const std::filesystem::path& base = sys::is_within(path, root) ? root : m_impl->local;
    removed.push_back({kind, path.lexically_relative(base).string(), name, bytes, last_used(path)});
    freed += bytes;
    if (!dry_run) remove_whole(path, m_impl->scratch_for(path));
  };
  std::set<std::string> blobs;
  for (const StoredWheel& wheel : wheels) {
    const auto step = try_lock(step_lock(wheel.key));
    const auto tree = try_lock(tree_lock(wheel.identity));
    if (!step || !tree) {
      held.push_back(wheel.key);
      continue;
    }
    const std::filesystem::path file = m_impl->step_file(wheel.key);
    if (const auto record = read_step(file)) blobs.insert(record->wheel_sha256);
    remove(ItemKind::wheel, file, wheel.wheel_name, wheel.bytes);
    std::error_code error;
    const std::filesystem::path seen = m_impl->seen_file(wheel.key);
    if (!dry_run && std::filesystem::exists(seen, error)) remove_whole(seen, m_impl->scratch_for(seen));
    const std::filesystem::path place = this->tree(wheel.identity);
    if (std::filesystem::exists(place, error)) remove(ItemKind::tree, place, "", usage(place).bytes);
  }
  if (dry_run) return freed;
  for (const std::string& sha256 : blobs) drop_blob(sha256);
  m_impl->bring_index_up_to_date();
  return freed;
}

}  // namespace wheelsmith::store
