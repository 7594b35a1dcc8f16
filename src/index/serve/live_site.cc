// Serves a folder while other programs add wheels to it. A page requested after a wheel was added lists it: a new,
// renamed or removed file changes its folder's time, and checking folders is cheap. Other changes (a file rewritten in
// place, a copy in progress) are found by checking all files, every few seconds and only while there are requests;
// sooner after something new or broken was seen.

#include "index/serve/live_site.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "sys/clock.h"

namespace wheelsmith::index {

namespace {

using namespace std::chrono_literals;
constexpr auto k_glance_every = 100ms;
constexpr auto k_unsettled_every = 500ms;
constexpr auto k_look_every = 5s;

}  // namespace

Snapshot::Snapshot(Catalogue catalogue, const ServeOptions& options) : m_catalogue(std::move(catalogue)) {
  m_indexes = make_indexes(m_catalogue, options.indexes, m_catalogue.findings);
  m_pages = make_pages(m_indexes, m_catalogue, options.pages, nullptr);
  for (const Page& page : m_pages) m_by_path.emplace(page.path, &page);
  for (const File& file : m_catalogue.files) m_files.emplace(file.path(), &file);
  m_unsettled = m_catalogue.newest_change > sys::unix_nanoseconds() - 3'000'000'000;
}

std::optional<RenderedPage> Snapshot::page(const std::string& path) const {
  const auto found = m_by_path.find(path);
  if (found == m_by_path.end()) return std::nullopt;
  {
    const std::lock_guard lock(m_mutex);
    if (const auto made = m_rendered.find(found->second); made != m_rendered.end()) return made->second;
  }
  RenderedPage page;
  page.text = std::make_shared<const std::string>(found->second->render());
  page.etag = "\"" + to_hex(sha256(Bytes(*page.text))).substr(0, 32) + "\"";
  const std::lock_guard lock(m_mutex);
  return m_rendered.emplace(found->second, std::move(page)).first->second;
}

const File* Snapshot::file(const std::string& path) const {
  const auto found = m_files.find(path);
  return found == m_files.end() ? nullptr : found->second;
}

LiveSite::LiveSite(const sys::OpenFolder& folder, const ServeOptions& options) : m_folder(folder), m_options(options) {
  // Files recorded by `index` need not be read again.
  std::unordered_map<std::string, State::KnownFile> known;
  if (const auto text = folder.read_file(k_state_file, 4ull << 30)) known = State::parse(*text).files;
  m_snapshot = std::make_shared<const Snapshot>(look(folder, std::move(known), m_options.look), m_options);
  m_last_glance = m_last_look = Clock::now();
}

std::shared_ptr<const Snapshot> LiveSite::snapshot() const {
  const std::lock_guard lock(m_mutex);
  return m_snapshot;
}

bool LiveSite::folders_changed() const {
  const std::shared_ptr<const Snapshot> last = snapshot();
  return std::any_of(last->catalogue().folders.begin(), last->catalogue().folders.end(),
                     [&](const auto& folder) { return m_folder.folder_stat(folder.first) != folder.second; });
}

void LiveSite::look_again() {
  m_last_look = Clock::now();
  try {
    auto fresh =
        std::make_shared<const Snapshot>(look(m_folder, snapshot()->catalogue().known, m_options.look), m_options);
    m_problem.clear();
    const std::lock_guard lock(m_mutex);
    m_snapshot = std::move(fresh);
  } catch (const Error& error) {  // a half-written index.toml, a folder that cannot be read now: keep the old pages
    if (m_options.on_problem && m_problem != error.what())
      m_options.on_problem(fmt::format("pages not updated: {}", error.what()));
    m_problem = error.what();
  }
}

std::shared_ptr<const Snapshot> LiveSite::current() {
  m_asked = true;
  // Only one thread checks; the others use the current pages.
  if (const std::unique_lock lock(m_looking, std::try_to_lock); lock.owns_lock()) {
    const auto time = Clock::now();
    if (time - m_last_glance >= k_glance_every) {
      m_last_glance = time;
      const bool due = time - m_last_look >= k_unsettled_every && snapshot()->is_unsettled();
      if (due || folders_changed()) look_again();
    }
  }
  return snapshot();
}

void LiveSite::tick() {
  if (const std::unique_lock lock(m_looking, std::try_to_lock); lock.owns_lock()) {
    if (Clock::now() - m_last_look >= k_look_every && m_asked.exchange(false)) look_again();
  }
}

}  // namespace wheelsmith::index
