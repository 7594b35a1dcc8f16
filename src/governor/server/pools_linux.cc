#include <algorithm>
#include <optional>

#include "base/text.h"
#include "governor/server/pools.h"
#include "sys/files.h"

// sys::memory() is a one-off query for this process. The governor serves processes of several cgroups, and checks each
// pool twenty times a second, so it keeps the cgroups' folders and reads two files per cgroup. Clean page cache counts
// as available, active pages included: the kernel reclaims both before it kills. Swap never counts: a compile that
// swaps takes longer than one that waits.

namespace wheelsmith::governor {

namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t k_text_limit = 1 << 20;

std::string text_of(const fs::path& path) { return sys::read_file_if_possible(path, k_text_limit).value_or(""); }

std::uint64_t number_of(const fs::path& path, std::uint64_t fallback) {
  return to_number(trim(text_of(path))).value_or(fallback);
}

// The number after a line's first word.
std::uint64_t field(std::string_view text, std::string_view name) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    if (line.empty() || (line.front() != ' ' && line.front() != ':')) continue;
    line = trim(line.substr(1));
    return to_number(line.substr(0, line.find(' '))).value_or(0);
  }
  return 0;
}

// "1:/sys/fs/cgroup/memory/a/b": the version, and the folder below root.
std::string pool_name(char version, const fs::path& folder) { return std::string(1, version) + ":" + folder.string(); }

void add_ancestors(char version, const fs::path& mount, std::string_view cgroup, const fs::path& root,
                   std::vector<std::string>& names) {
  fs::path path = fs::path(cgroup).lexically_normal().relative_path();
  if (!path.empty() && *path.begin() == "..") path.clear();
  const std::uint64_t machine = field(text_of(root / "proc/meminfo"), "MemTotal") * 1024;
  for (;; path = path.parent_path()) {
    const std::string name = pool_name(version, path.empty() ? mount : mount / path);
    if (read_pool(name, root).pool.limit < machine) names.push_back(name);
    if (path.empty()) return;
  }
}

PoolReading read_machine(const fs::path& root) {
  const std::string meminfo = text_of(root / "proc/meminfo");
  PoolReading reading;
  reading.pool.limit = field(meminfo, "MemTotal") * 1024;
  reading.pool.available = std::min(field(meminfo, "MemAvailable") * 1024, reading.pool.limit);
  return reading;
}

PoolReading without_limit() {
  PoolReading reading;
  reading.pool.limit = reading.pool.available = UINT64_MAX;
  return reading;
}

}  // namespace

std::string cgroups_of(pid_t pid, const fs::path& root) {
  return text_of(root / "proc" / std::to_string(pid) / "cgroup");
}

std::vector<std::string> pools_in(const std::string& cgroups, const fs::path& root) {
  std::vector<std::string> names{k_machine};
  for (const std::string_view line : lines(cgroups)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view cgroup = line.substr(second + 1);
    const std::vector<std::string_view> controllers = split(line.substr(first + 1, second - first - 1), ',');
    if (line.starts_with("0::")) {
      add_ancestors('2', "sys/fs/cgroup", cgroup, root, names);
      add_ancestors('2', "sys/fs/cgroup/unified", cgroup, root, names);
    } else if (std::find(controllers.begin(), controllers.end(), "memory") != controllers.end()) {
      add_ancestors('1', "sys/fs/cgroup/memory", cgroup, root, names);
    }
  }
  return names;
}

PoolReading read_pool(const std::string& name, const fs::path& root) {
  if (name == k_machine) return read_machine(root);
  const bool second = name.starts_with("2:");
  const fs::path folder = root / name.substr(2);
  std::uint64_t limit = number_of(folder / (second ? "memory.max" : "memory.limit_in_bytes"), UINT64_MAX);
  // Exceeding memory.high kills no process, but slows it down until a build seems to hang.
  if (second) limit = std::min(limit, number_of(folder / "memory.high", UINT64_MAX));
  if (limit > 1ULL << 60) return without_limit();
  PoolReading reading;
  reading.pool.limit = limit;
  const std::uint64_t used = number_of(folder / (second ? "memory.current" : "memory.usage_in_bytes"), 0);
  const std::string stat = text_of(folder / "memory.stat");
  const std::string prefix = second ? "" : "total_";
  std::uint64_t cache = field(stat, prefix + "inactive_file") + field(stat, prefix + "active_file");
  if (second) cache += field(stat, "slab_reclaimable");
  const std::uint64_t dirty =
      field(stat, second ? "file_dirty" : "total_dirty") + field(stat, second ? "file_writeback" : "total_writeback");
  cache -= std::min(cache, dirty);
  const std::uint64_t held = used - std::min(used, cache);
  reading.pool.available = limit - std::min(limit, held);
  reading.kills = field(text_of(folder / (second ? "memory.events" : "memory.oom_control")), "oom_kill");
  return reading;
}

bool Pressure::look(double now) {
  if (m_looked_at >= 0 && now - m_looked_at < 0.5) return m_pressed;
  const std::string text = text_of(m_root / "proc/pressure/memory");
  const std::size_t full = text.find("full ");
  const std::size_t at = full == text.npos ? full : text.find("total=", full);
  if (at == text.npos) return false;
  const std::string_view rest = std::string_view(text).substr(at + 6);
  const std::uint64_t total = to_number(trim(rest.substr(0, rest.find('\n')))).value_or(m_total);
  if (m_looked_at >= 0)
    m_pressed = static_cast<double>(total - std::min(total, m_total)) / 1e6 > 0.2 * (now - m_looked_at);
  m_total = total;
  m_looked_at = now;
  return m_pressed;
}

}  // namespace wheelsmith::governor
