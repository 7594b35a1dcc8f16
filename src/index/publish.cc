// Writes pages to disk. The order makes it safe to interrupt at any point:
//
//   1. hash the files, and save the state with the hashes and the names of all new pages, so that a later run
//      recognises them as its own even after an interruption;
//   2. write pages and sidecars atomically, and only if their contents differ;
//   3. remove pages of removed projects, unless they were modified since they were written;
//   4. sync everything to disk;
//   5. save the state with the inputs of the pages: only from now on does the next run skip them.

#include "index/publish.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <unordered_set>

#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "index/pages/page_parts.h"
#include "sys/files.h"
#include "sys/process/process.h"

namespace wheelsmith::index {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_few = 32;  // up to this many are synced one by one, more with the whole file system

// A page written by wheelsmith, even if the state no longer lists it.
bool looks_like_ours(std::string_view path, std::string_view text) {
  if (path.ends_with(".html")) return text.find("<meta name=\"generator\" content=\"wheelsmith\">") != text.npos;
  return text.starts_with("{\"meta\":{\"api-version\":\"1.4\",\"_generator\":\"wheelsmith\"}");
}

class Publisher {
 public:
  explicit Publisher(const PublishOptions& options)
      : m_options(options),
        m_folder(fs::canonical(options.folder)),
        m_out(options.out.empty() ? m_folder.path() : made(options.out)),
        m_lock(m_out.path() / ".wheelsmith-index.lock") {}

  Published take() {
    if (const auto text = m_out.read_file(k_state_file, 4ull << 30)) m_old = State::parse(*text);
    const std::size_t known = m_old.files.size();
    Catalogue catalogue = look(m_folder, std::move(m_old.files), m_options.look);
    if (catalogue.interrupted) {
      m_old.files = std::move(catalogue.known);
      save(m_old);
      throw Error("interrupted");
    }
    m_result.hashed = catalogue.hashed;
    m_result.hashed_bytes = catalogue.hashed_bytes;
    m_changed = catalogue.hashed > 0 || catalogue.known.size() != known;
    m_result.findings = std::move(catalogue.findings);
    m_new.files = std::move(catalogue.known);
    for (File& file : catalogue.files) file.has_sidecar = m_options.sidecars;
    const std::vector<Index> indexes = make_indexes(catalogue, m_options.indexes, m_result.findings);
    for (const Index& index : indexes)
      m_result.indexes.push_back({index.place, index.projects.size(), index.file_count()});
    PageOptions page_options = m_options.pages;
    const fs::path way = m_folder.path().lexically_relative(m_out.path());
    if (way != ".") page_options.to_files = url_escaped(way.generic_string()) + "/";
    const std::vector<Page> pages = make_pages(indexes, catalogue, page_options, &m_result.findings);
    plan_pages(pages);
    if (m_options.sidecars) plan_sidecars(catalogue);
    find_stale();
    claim();
    write();
    remove_stale();
    if (m_changed) save(m_new);
    m_result.pages = m_new.pages.size() + m_new.sidecars.size();
    return std::move(m_result);
  }

 private:
  struct Job {
    const sys::OpenFolder* folder = nullptr;
    std::string path;
    std::string fingerprint;
    std::function<std::string()> render;
    bool sidecar = false;
    bool claimed = true;  // the last state knew it
  };

  static fs::path made(const fs::path& out) {
    sys::make_folders(out);
    return fs::canonical(out);
  }

  // Whether it is unmodified and has the same inputs; then it is kept.
  bool carried_over(bool sidecar, const std::string& path, const std::string& fingerprint,
                    const std::optional<sys::FileStat>& stat, bool& claimed) {
    auto& before = sidecar ? m_old.sidecars : m_old.pages;
    const auto known = before.find(path);
    claimed = known != before.end();
    if (!claimed || known->second.fingerprint != fingerprint || !stat || known->second.stat != *stat) return false;
    (sidecar ? m_new.sidecars : m_new.pages).insert(before.extract(known));
    return true;
  }

  void plan_pages(const std::vector<Page>& pages) {
    for (const Page& page : pages) {
      bool claimed = false;
      if (carried_over(false, page.path, page.fingerprint, m_out.glance(page.path), claimed)) continue;
      m_jobs.push_back({&m_out, page.path, page.fingerprint, page.render, false, claimed});
    }
  }

  void plan_sidecars(const Catalogue& catalogue) {
    for (const File& file : catalogue.files) {
      const std::string& digest = file.facts.metadata_sha256;
      if (digest.empty()) continue;
      bool claimed = false;
      const std::string path = file.path() + ".metadata";
      if (carried_over(true, path, digest, file.sidecar, claimed)) continue;
      const auto render = [this, &file] {
        const auto opened = m_folder.open_file(file.path());
        const auto text = opened ? read_metadata(*opened, file.parts) : std::nullopt;
        if (!text || to_hex(sha256(Bytes(*text))) != file.facts.metadata_sha256)
          throw Error(fmt::format("{} changed while it was indexed", printable(file.path())));
        return *text;
      };
      m_jobs.push_back({&m_folder, path, digest, render, true, claimed});
    }
  }

  // Entries of the last state that the new one will not have.
  void find_stale() {
    std::unordered_set<std::string> wanted[2];
    for (const Job& job : m_jobs) wanted[job.sidecar ? 1 : 0].insert(job.path);
    for (const bool sidecar : {false, true}) {
      for (const auto& [path, written] : sidecar ? m_old.sidecars : m_old.pages) {
        if (!wanted[sidecar ? 1 : 0].contains(path)) m_stale.emplace_back(sidecar, path, written);
      }
    }
    std::sort(m_stale.begin(), m_stale.end(),
              [](const Stale& a, const Stale& b) { return std::tie(a.sidecar, a.path) < std::tie(b.sidecar, b.path); });
  }

  void claim() {
    bool fresh = false;
    for (const Job& job : m_jobs) {
      if (job.claimed || job.sidecar) continue;
      fresh = true;
      const auto text = m_out.read_file(job.path);
      if (text && !m_options.force && !looks_like_ours(job.path, *text))
        throw Error(
            fmt::format("{} exists and was not written by wheelsmith; use --force to replace it, or --out DIR to write "
                        "the pages elsewhere",
                        printable((m_out.path() / job.path).string())));
    }
    if (!fresh) return;
    State claimed = m_new;
    for (const Job& job : m_jobs) (job.sidecar ? claimed.sidecars : claimed.pages)[job.path];
    for (const Stale& stale : m_stale) (stale.sidecar ? claimed.sidecars : claimed.pages)[stale.path] = stale.written;
    save(claimed);
  }

  void write() {
    if (m_jobs.empty()) return;
    std::vector<sys::FileStat> stats(m_jobs.size());
    std::atomic<std::uint64_t> written = 0;
    const bool few = m_jobs.size() <= k_few;
    // A few files are synced individually, in parallel.
    parallel_for(m_jobs.size(), few ? k_few : m_options.look.threads, [&](std::size_t i) {
      const Job& job = m_jobs[i];
      if (sys::interrupted()) throw Error("interrupted");
      const std::string text = job.render();
      if (const auto there = job.folder->open_file(job.path); there && there->stat().size == text.size()) {
        std::string old(text.size(), '\0');
        old.resize(there->read_at(0, {reinterpret_cast<std::uint8_t*>(old.data()), old.size()}));
        stats[i] = there->stat();
        // A link of that name was not written by wheelsmith.
        if (old == text && job.folder->glance(job.path) == there->stat()) return;
      }
      stats[i] = job.folder->write_file(job.path, text, few);
      ++written;
    });
    for (std::size_t i = 0; i < m_jobs.size(); ++i) {
      State::Written item{m_jobs[i].fingerprint, stats[i]};
      (m_jobs[i].sidecar ? m_new.sidecars : m_new.pages).insert_or_assign(m_jobs[i].path, std::move(item));
    }
    m_result.written = written;
    m_changed = true;
    if (few || written == 0) return;
    m_out.sync();
    m_folder.sync();
  }

  void remove_stale() {
    for (const Stale& stale : m_stale) {
      m_changed = true;
      const sys::OpenFolder& folder = stale.sidecar ? m_folder : m_out;
      const auto stat = folder.glance(stale.path);
      if (!stat) continue;
      bool ours = stale.written.stat == *stat;
      if (!ours && stale.written.stat == sys::FileStat{} && !stale.sidecar) {  // recorded by an interrupted run
        const auto text = folder.read_file(stale.path);
        ours = text && looks_like_ours(stale.path, *text);
      }
      if (!ours) continue;
      folder.remove_file(stale.path);
      ++m_result.removed;
    }
  }

  // Not synced: a state lost or truncated by a power failure is read as empty, and an old one lists pages that no
  // longer match.
  void save(const State& state) { (void)m_out.write_file(k_state_file, state.to_text(), false); }

  struct Stale {
    Stale(bool is_sidecar, std::string where, State::Written what)
        : sidecar(is_sidecar), path(std::move(where)), written(std::move(what)) {}
    bool sidecar;
    std::string path;
    State::Written written;
  };

  const PublishOptions& m_options;
  sys::OpenFolder m_folder;
  sys::OpenFolder m_out;
  sys::FileLock m_lock;
  State m_old;
  State m_new;
  std::vector<Job> m_jobs;
  std::vector<Stale> m_stale;
  Published m_result;
  bool m_changed = false;
};

}  // namespace

bool Published::is_good() const {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.severity == Severity::error; });
}

Published publish(const PublishOptions& options) { return Publisher(options).take(); }

}  // namespace wheelsmith::index
