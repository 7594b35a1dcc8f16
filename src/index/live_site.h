#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "index/responder.h"

// Inside this module only: the pages of a folder in memory.

namespace wheelsmith::index {

struct RenderedPage {
  std::shared_ptr<const std::string> text;
  std::string etag;
};

// The folder at one moment. Pages are made when they are first asked for.
class Snapshot {
 public:
  Snapshot(Catalogue catalogue, const ServeOptions& options);

  [[nodiscard]] bool has_page(const std::string& path) const { return m_by_path.contains(path); }
  [[nodiscard]] std::optional<RenderedPage> page(const std::string& path) const;
  // By path in the folder; null when the index does not have it.
  [[nodiscard]] const File* file(const std::string& path) const;
  [[nodiscard]] const Catalogue& catalogue() const { return m_catalogue; }
  // Something in it may still be being written.
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

  // As the folder is now, as far as its folders' own times tell.
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
  std::string m_problem;                         // of the last look, told once
  mutable std::mutex m_mutex;
  std::shared_ptr<const Snapshot> m_snapshot;
  std::atomic<bool> m_asked{false};
};

}  // namespace wheelsmith::index
