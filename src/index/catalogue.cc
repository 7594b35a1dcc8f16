// Scans a folder. The walk stats each file; only new or changed files are read.
//
// A file counts as unchanged if its inode, size and both times are the same. A file that changed just before it was
// hashed may change again within the same kernel clock tick and look the same, so it is marked to be read again.

#include "index/catalogue.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "index/provenance.h"
#include "sys/file_state.h"
#include "sys/process/process.h"

namespace wheelsmith::index {

namespace {

constexpr unsigned k_deepest = 12;
constexpr std::uint64_t k_most_provenance = 16 << 20;
constexpr std::string_view k_attestation = ".publish.attestation";

Finding finding(std::string id, Severity severity, std::string subject, std::string what, std::string why,
                std::string fix) {
  return {std::move(id), severity, printable(subject), printable(what), std::move(why), std::move(fix)};
}

bool is_wanted(std::string_view name) {
  const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
  return looks_like_distribution(name) || name.ends_with(".metadata") || name.ends_with(".provenance") ||
         std::any_of(k_beside.begin(), k_beside.end(), ends);
}

class Look {
 public:
  Look(const sys::OpenFolder& folder, std::unordered_map<std::string, State::KnownFile> known,
       const LookOptions& options)
      : m_folder(folder), m_known(std::move(known)), m_options(options), m_filter(options.filter) {}

  Catalogue take() {
    if (const auto text = m_folder.read_file(k_control_file, 4 << 20)) m_result.control = Control::parse(*text);
    walk("", 0);
    read_new();
    finish();
    return std::move(m_result);
  }

 private:
  void walk(const std::string& folder, unsigned depth) {
    // Stat the folder first, so that later changes are noticed.
    m_result.folders.emplace_back(folder, m_folder.folder_stat(folder));
    std::vector<sys::OpenFolder::Entry> entries;
    try {
      entries = m_folder.entries(folder, is_wanted);
    } catch (const Error& error) {
      if (folder.empty()) throw;
      m_result.findings.push_back(finding("index-unreadable-folder", Severity::error, folder, error.what(),
                                          "its files are not listed", "grant read permission on the folder"));
    }
    using Kind = sys::OpenFolder::Entry::Kind;
    for (const sys::OpenFolder::Entry& entry : entries) {
      if (entry.name.starts_with('.')) continue;
      if (entry.kind == Kind::folder) {
        if (depth < k_deepest) walk(folder.empty() ? entry.name : folder + "/" + entry.name, depth + 1);
      } else if (looks_like_distribution(entry.name) && entry.kind != Kind::other) {
        add(folder, entry, entries);
      }
    }
  }

  void add(const std::string& folder, const sys::OpenFolder::Entry& entry,
           const std::vector<sys::OpenFolder::Entry>& beside) {
    File file;
    file.folder = folder;
    file.name = entry.name;
    file.stat = entry.stat;
    try {
      file.parts = parse_file_name(entry.name);
    } catch (const Error& error) {
      // An archive that is not a distribution may be in a folder for other reasons; a wheel may not.
      const bool wheel = entry.name.ends_with(".whl");
      m_result.findings.push_back(finding("index-bad-name", wheel ? Severity::error : Severity::note, file.path(),
                                          error.what(), "installers cannot select it by its name",
                                          "rename it to match its METADATA, or move it elsewhere"));
      return;
    }
    if (!m_filter.takes(file.name, file.parts)) return;
    if (entry.kind == sys::OpenFolder::Entry::Kind::link) {
      const auto stat = m_folder.stat_of(file.path());
      if (!stat) {
        m_result.findings.push_back(finding("index-link-outside", Severity::warning, file.path(),
                                            "is a dangling link, or a link to a file outside the folder",
                                            "files outside the folder are not served, so it is not listed",
                                            "replace the link by the file itself or a hard link"));
        return;
      }
      file.stat = *stat;
    }
    // Sorted by name, companion files come right after their file.
    const auto* const end = beside.data() + beside.size();
    for (const auto* other = &entry + 1; other != end && other->name.starts_with(file.name); ++other) {
      if (other->kind != sys::OpenFolder::Entry::Kind::file) continue;
      const std::string_view rest = std::string_view(other->name).substr(file.name.size());
      if (rest == ".provenance") file.has_provenance = true;
      if (rest == ".metadata") file.sidecar = other->stat;
      if (std::find(k_beside.begin(), k_beside.end(), rest) != k_beside.end()) file.beside.emplace_back(rest);
    }
    m_result.files.push_back(std::move(file));
  }

  void read_new() {
    std::vector<std::size_t> fresh;
    std::vector<const Facts*> before(m_result.files.size());
    for (std::size_t i = 0; i < m_result.files.size(); ++i) {
      File& file = m_result.files[i];
      const auto known = m_known.find(file.path());
      if (known != m_known.end() && known->second.stat == file.stat) {
        if (!m_options.rehash) {
          file.facts = known->second.facts;
          m_result.known.insert(m_known.extract(known));
          continue;
        }
        before[i] = &known->second.facts;
      }
      fresh.push_back(i);
    }
    // The largest first, so that the last ones end together.
    std::stable_sort(fresh.begin(), fresh.end(), [&](std::size_t a, std::size_t b) {
      return m_result.files[a].stat.size > m_result.files[b].stat.size;
    });
    std::vector<std::int64_t> read_at(m_result.files.size());
    std::vector<std::string> trouble(m_result.files.size());
    parallel_for(fresh.size(), m_options.threads, [&](std::size_t n) {
      File& file = m_result.files[fresh[n]];
      if (sys::interrupted()) {
        trouble[fresh[n]] = "interrupted";
        return;
      }
      read_at[fresh[n]] = sys::file_clock_nanoseconds();
      try {
        const auto opened = m_folder.open_file(file.path());
        if (!opened) throw Error("was removed or cannot be opened");
        file.stat = opened->stat();
        file.facts = read_facts(*opened, file.parts, file.name);
      } catch (const Error& error) {  // one input becomes a finding
        trouble[fresh[n]] = error.what();
      }
    });
    m_result.interrupted = sys::interrupted();
    for (const std::size_t i : fresh) {
      File& file = m_result.files[i];
      if (!trouble[i].empty()) {
        file.facts.problem = trouble[i];
        continue;
      }
      ++m_result.hashed;
      m_result.hashed_bytes += file.stat.size;
      if (before[i] != nullptr && before[i]->sha256 != file.facts.sha256)
        m_result.findings.push_back(finding("index-changed-in-secret", Severity::error, file.path(),
                                            "its contents changed, but its size and times did not",
                                            "the pages listed a wrong hash until now",
                                            "find the program that modified it, or check the disk"));
      State::KnownFile known{file.stat, file.facts};
      if (!sys::is_settled(file.stat.modified, file.stat.changed, read_at[i])) known.stat.inode = 0;
      m_result.known.insert_or_assign(file.path(), std::move(known));
    }
  }

  void finish() {
    for (File& file : m_result.files) {
      m_result.newest_change = std::max(m_result.newest_change, file.stat.changed);
      if (!file.facts.problem.empty())
        m_result.findings.push_back(finding("index-broken-file", Severity::error, file.path(), file.facts.problem,
                                            "installing it would fail, so it is not listed",
                                            "rebuild or remove it; run `wheelsmith check` for details"));
      if (!file.facts.remark.empty())
        m_result.findings.push_back(finding("index-bad-requires-python", Severity::warning, file.path(),
                                            file.facts.remark, "installers offer it to every Python",
                                            "fix Requires-Python in the package's metadata"));
      check_provenance(file);
      for (const Control::Rule& rule : m_result.control.yanked) {
        if (glob_match(rule.pattern, file.name)) file.yanked = rule.text;
      }
      if (m_options.times_of_files) {
        const auto seconds = static_cast<std::time_t>(file.stat.modified / 1'000'000'000);
        file.upload_time = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds));
      }
      for (const Control::Rule& rule : m_result.control.upload_times) {
        if (glob_match(rule.pattern, file.name)) file.upload_time = rule.text;
      }
    }
    std::erase_if(m_result.files, [](const File& file) { return !file.facts.problem.empty(); });
    const auto by_path = [](const File& a, const File& b) {
      return std::tie(a.folder, a.name) < std::tie(b.folder, b.name);
    };
    if (!std::is_sorted(m_result.files.begin(), m_result.files.end(), by_path))
      std::sort(m_result.files.begin(), m_result.files.end(), by_path);
  }

  // Clients trust the provenance that a page links, so it is linked only if it is about this file.
  void check_provenance(File& file) {
    if (!file.facts.problem.empty()) return;
    const auto check = [&](const std::string& ending,
                           std::string (*problem_of)(std::string_view, const std::string&, const std::string&)) {
      std::string problem = "cannot be read, or is too large";
      if (const auto text = m_folder.read_file(file.path() + ending, k_most_provenance))
        problem = problem_of(*text, file.name, file.facts.sha256);
      if (problem.empty()) return true;
      m_result.findings.push_back(finding("index-bad-provenance", Severity::warning, file.path() + ending, problem,
                                          "clients that verify it would reject the file, so it is not published",
                                          "create a new attestation (pypi-attestations), or remove it"));
      return false;
    };
    if (file.has_provenance) file.has_provenance = check(".provenance", provenance_problem);
    const auto attestation = std::find(file.beside.begin(), file.beside.end(), k_attestation);
    if (attestation != file.beside.end() && !check(*attestation, attestation_problem)) file.beside.erase(attestation);
  }

  const sys::OpenFolder& m_folder;
  std::unordered_map<std::string, State::KnownFile> m_known;
  const LookOptions& m_options;
  Filter m_filter;
  Catalogue m_result;
};

}  // namespace

Catalogue look(const sys::OpenFolder& folder, std::unordered_map<std::string, State::KnownFile> known,
               const LookOptions& options) {
  return Look(folder, std::move(known), options).take();
}

}  // namespace wheelsmith::index
