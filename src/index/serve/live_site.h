#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "index/serve/responder.h"

// Private to this module: the pages of a folder in memory.

namespace wheelsmith::index {

struct RenderedPage {
  std::shared_ptr<const std::string> text;
  std::string etag;
};

// A snapshot of the folder. Pages are rendered on first request.
class Snapshot {
 public:
  Snapshot(Catalogue catalogue, const ServeOptions& options);

  [[nodiscard]] bool has_page(const std::string& path) const { return m_by_path.contains(path); }
  [[nodiscard]] std::optional<RenderedPage> page(const std::string& path) const;
  // By path in the folder; null if the index does not have it.
  [[nodiscard]] const File* file(const std::string& path) const;
  [[nodiscard]] const Catalogue& catalogue() const { return m_catalogue; }
  // Some of its files may still be being written.
  [[nodiscard]] bool is_unsettled() const { return m_unsettled; }

 private:
  Catalogue m_catalogue;
  std::vector<Index> m_indexes;
  std::vector<Page> m_pages;
  std::unordered_map<std::string, const Page*> m_by_path;
  std::unordered_map<std::string, const File*> m_files;
  bool m_unsettled = false;
  mutable std::mutex m_mutex;
  mutable std::unordered_map<const Page*, RenderedPage> m_rendered;
};

class LiveSite {
 public:
  LiveSite(const sys::OpenFolder& folder, const ServeOptions& options);

  // The current state, as far as folder times show.
  [[nodiscard]] std::shared_ptr<const Snapshot> current();
  void tick();

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] bool folders_changed() const;
  void look_again();
  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot() const;

  const sys::OpenFolder& m_folder;
  ServeOptions m_options;
  std::mutex m_looking;
  Clock::time_point m_last_glance, m_last_look;  // guarded by m_looking, as the next
  std::string m_problem;                         // of the last check, reported once
  mutable std::mutex m_mutex;
  std::shared_ptr<const Snapshot> m_snapshot;
  std::atomic<bool> m_asked{false};
};

}  // namespace wheelsmith::index
