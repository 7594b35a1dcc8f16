#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "governor/server/run_file.h"
#include "governor/server/sampler.h"
#include "sys/files.h"

// The memory of a tree is the sum of its processes' private memory, plus the largest shared part: a compiler's code is
// the same pages in each of its processes, and counting them each time would double the apparent size of small
// compiles. The value reported for a finished process (ru_maxrss) covers only the largest process of the tree: 313 MB
// for one that used 600.
//
// Trees are walked through /proc/PID/task/TID/children, which costs some microseconds per process; where the kernel
// lacks it, the parents of all processes are read instead.

namespace wheelsmith::governor {

namespace {

// Small files of /proc, read without the heap.
class ProcText {
 public:
  explicit ProcText(const char* path) { m_size = sys::read_start(path, m_text); }
  [[nodiscard]] bool there() const { return m_size.has_value(); }
  [[nodiscard]] std::string_view text() const { return {m_text.data(), m_size.value_or(0)}; }

 private:
  std::array<char, 4096> m_text;
  std::optional<std::size_t> m_size;
};

// Numbers separated by blanks.
template <class Take>
void each_number(std::string_view text, Take take) {
  std::uint64_t value = 0;
  bool open = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      value = value * 10 + static_cast<std::uint64_t>(c - '0');
      open = true;
    } else if (open) {
      take(value);
      value = 0;
      open = false;
    }
  }
  if (open) take(value);
}

std::string proc_path(pid_t pid, const char* name) { return "/proc/" + std::to_string(pid) + "/" + name; }

struct DirCloser {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, DirCloser>;

bool has_children_files() {
  static const bool there = ProcText("/proc/thread-self/children").there();
  return there;
}

void add_children(pid_t pid, std::vector<pid_t>& pids) {
  const std::string tasks = proc_path(pid, "task");
  const Folder folder(::opendir(tasks.c_str()));
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    const ProcText children((tasks + "/" + entry->d_name + "/children").c_str());
    each_number(children.text(), [&pids](std::uint64_t child) { pids.push_back(static_cast<pid_t>(child)); });
  }
}

pid_t parent_of(pid_t pid) {
  const ProcText stat(proc_path(pid, "stat").c_str());
  const std::string_view text = stat.text();
  const std::size_t close = text.rfind(')');
  if (close == text.npos || close + 4 > text.size()) return 0;
  return static_cast<pid_t>(std::strtol(std::string(text.substr(close + 4, 12)).c_str(), nullptr, 10));
}

std::multimap<pid_t, pid_t> all_children() {
  std::multimap<pid_t, pid_t> children;
  const Folder folder(::opendir("/proc"));
  while (const dirent* entry = folder == nullptr ? nullptr : ::readdir(folder.get())) {
    const pid_t pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (pid > 0) children.emplace(parent_of(pid), pid);
  }
  return children;
}

std::vector<pid_t> tree_of(pid_t root) {
  std::vector<pid_t> pids;
  if (has_children_files()) {
    add_children(root, pids);
    // The files are read one after another, so a PID reused meanwhile could create a cycle.
    for (std::size_t i = 0; i < pids.size() && pids.size() < 100'000; ++i) add_children(pids[i], pids);
  } else {
    const std::multimap<pid_t, pid_t> children = all_children();
    std::vector<pid_t> parents{root};
    for (std::size_t i = 0; i < parents.size() && parents.size() < 100'000; ++i) {
      const auto [first, last] = children.equal_range(parents[i]);
      for (auto child = first; child != last; ++child) parents.push_back(child->second);
    }
    pids.assign(parents.begin() + 1, parents.end());
  }
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

bool is_inner_compiler(std::string_view name) {
  static constexpr std::array<std::string_view, 8> k_names{"cc1",  "cc1plus", "cc1obj", "f951",
                                                           "lto1", "cicc",    "ptxas",  "cudafe++"};
  return std::find(k_names.begin(), k_names.end(), name) != k_names.end();
}

// Whether a shim let it pass as a query, which its environment then shows.
bool was_let_pass(pid_t pid) {
  std::string text(1 << 20, '\0');
  const auto size = sys::read_start(proc_path(pid, "environ").c_str(), text);
  text.resize(size.value_or(0));  // nothing: already gone
  return text.empty() || text.find(k_passed_variable) != text.npos;
}

}  // namespace

TreeUse tree_use(pid_t root) {
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  TreeUse use;
  use.pids = tree_of(root);
  std::uint64_t shared_most = 0;
  for (const pid_t pid : use.pids) {
    const ProcText statm(proc_path(pid, "statm").c_str());
    std::array<std::uint64_t, 3> pages{};  // size, resident, shared
    std::size_t count = 0;
    each_number(statm.text(), [&](std::uint64_t value) {
      if (count < pages.size()) pages[count++] = value;
    });
    use.bytes += (pages[1] - std::min(pages[1], pages[2])) * page;
    shared_most = std::max(shared_most, pages[2] * page);
  }
  use.bytes += shared_most;
  return use;
}

void signal_tree(pid_t root, int signal) {
  std::set<pid_t> done;
  for (int round = 0; round < 8; ++round) {
    bool more = false;
    for (const pid_t pid : tree_of(root)) {
      if (!done.insert(pid).second) continue;
      ::kill(pid, signal);
      more = true;
    }
    if (!more) return;
  }
}

std::vector<std::string> compilers_outside(pid_t root, const std::vector<pid_t>& granted) {
  std::set<pid_t> inside;
  for (const pid_t pid : granted) {
    for (const pid_t below : tree_of(pid)) inside.insert(below);
  }
  std::vector<std::string> found;
  for (const pid_t pid : tree_of(root)) {
    if (inside.contains(pid)) continue;
    const ProcText comm(proc_path(pid, "comm").c_str());
    const std::string_view name = comm.text().substr(0, comm.text().find('\n'));
    if (!is_inner_compiler(name) || was_let_pass(pid)) continue;
    // Its parent is the program that the build called.
    std::array<char, 4096> path{};
    const ssize_t size = ::readlink(proc_path(parent_of(pid), "exe").c_str(), path.data(), path.size());
    found.emplace_back(size > 0 ? std::string(path.data(), static_cast<std::size_t>(size)) : std::string(name));
  }
  return found;
}

bool is_ancestor(pid_t ancestor) {
  if (ancestor <= 1) return false;
  pid_t pid = ::getppid();
  for (int depth = 0; depth < 64 && pid > 1; ++depth) {
    if (pid == ancestor) return true;
    pid = parent_of(pid);
  }
  return false;
}

}  // namespace wheelsmith::governor
