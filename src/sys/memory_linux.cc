#include "sys/memory_linux.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

// How much memory can be used before the kernel kills a process. /proc/meminfo describes the machine even inside a
// container; the container's limits are in the cgroup file system, and each parent cgroup up to the root may set its
// own limit:
//
//              version 2 (0::/a/b)               version 1 (4:memory:/a/b)
//   limit      memory.max, memory.high           memory.limit_in_bytes
//   used       memory.current                    memory.usage_in_bytes
//   page cache memory.stat: inactive_file        memory.stat: total_inactive_file
//
// Page cache counts as used but is reclaimed on demand. Exceeding memory.high kills no process, but slows it down until
// a build seems to hang; so it counts as a limit too. A container without a cgroup namespace reads a path that exists
// only outside of it; its own limits are then at the mount's root, which is visited last.

namespace wheelsmith::sys {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t k_text_limit = 1 << 20;

std::string text_of(const fs::path& path) { return read_file_if_possible(path, k_text_limit).value_or(""); }

// "max" and other text that is not a number mean no limit.
std::optional<std::uint64_t> number_of(const fs::path& path) { return to_number(trim(text_of(path))); }

// The number after a line's first word.
std::optional<std::uint64_t> field(std::string_view text, std::string_view name) {
  for (std::string_view line : lines(text)) {
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    if (line.empty() || (line.front() != ' ' && line.front() != ':')) continue;
    line = trim(line.front() == ':' ? line.substr(1) : line);
    return to_number(line.substr(0, line.find(' ')));
  }
  return std::nullopt;
}

struct Names {
  std::vector<std::string_view> limits;
  std::string_view used;
  std::string_view cache;
};

const Names k_version_2{{"memory.max", "memory.high"}, "memory.current", "inactive_file"};
const Names k_version_1{{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"};

void apply_limit(Memory& memory, const fs::path& folder, const Names& names) {
  std::uint64_t limit = UINT64_MAX;
  for (const std::string_view name : names.limits) limit = std::min(limit, number_of(folder / name).value_or(limit));
  if (limit >= memory.total) return;  // version 1 writes "no limit" as a number near 2^63
  const std::uint64_t used = number_of(folder / names.used).value_or(0);
  const std::uint64_t cache = field(text_of(folder / "memory.stat"), names.cache).value_or(0);
  const std::uint64_t held = used - std::min(used, cache);
  memory.total = limit;
  memory.available = std::min(memory.available, limit - std::min(limit, held));
}

void apply_limits(Memory& memory, const fs::path& mount, std::string_view cgroup, const Names& names) {
  fs::path path = fs::path(cgroup).lexically_normal().relative_path();
  // "/../.." is how a cgroup namespace names paths outside of it.
  if (!path.empty() && *path.begin() == "..") path.clear();
  for (;; path = path.parent_path()) {
    apply_limit(memory, mount / path, names);
    if (path.empty()) return;
  }
}

}  // namespace

Memory memory_below(const fs::path& root) {
  const std::string meminfo = text_of(root / "proc/meminfo");
  const std::uint64_t total = field(meminfo, "MemTotal").value_or(0);
  const std::uint64_t available = field(meminfo, "MemAvailable").value_or(field(meminfo, "MemFree").value_or(total));
  if (total == 0 || total > UINT64_MAX / 1024) throw Error("cannot read the memory size from /proc/meminfo");
  Memory memory{total * 1024, std::min(available, total) * 1024};
  const std::string cgroups = text_of(root / "proc/self/cgroup");
  for (const std::string_view line : lines(cgroups)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view cgroup = line.substr(second + 1);
    const std::vector<std::string_view> controllers = split(line.substr(first + 1, second - first - 1), ',');
    if (line.starts_with("0::")) {
      apply_limits(memory, root / "sys/fs/cgroup", cgroup, k_version_2);
      apply_limits(memory, root / "sys/fs/cgroup/unified", cgroup, k_version_2);
    } else if (std::find(controllers.begin(), controllers.end(), "memory") != controllers.end()) {
      apply_limits(memory, root / "sys/fs/cgroup/memory", cgroup, k_version_1);
    }
  }
  return memory;
}

Memory memory() { return memory_below("/"); }

}  // namespace wheelsmith::sys
