#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "index/publish.h"
#include "index/serve/answerer.h"
#include "index/serve/request.h"
#include "sys/open_folder.h"

namespace wheelsmith::index {

class LiveSite;

struct ServeOptions {
  std::filesystem::path folder;
  bool live = false;  // render the pages from the folder even if it has been indexed
  LookOptions look;
  IndexOptions indexes;
  PageOptions pages;
  // Receives server-side problems for the operator; called from several threads. May be empty.
  std::function<void(const std::string&)> on_problem{};
};

// Answers requests. Thread-safe.
class Responder final : public Answerer {
 public:
  // An indexed folder is served as it is; for others the pages are rendered in memory, and again when the folder
  // changes. Nothing is written.
  explicit Responder(const ServeOptions& options);
  ~Responder() override;

  [[nodiscard]] Response answer(const Request& request) const override;
  [[nodiscard]] bool is_live() const { return m_live != nullptr; }
  // Passes a sentence to on_problem.
  void tell(const std::string& problem) const override;
  // Checks every file again if due; called periodically.
  void tick() const override;

 private:
  [[nodiscard]] Response answer_path(const Request& request, const Target& target) const;
  [[nodiscard]] Response answer_page(const Request& request, const std::string& folder, const Target& target) const;
  [[nodiscard]] std::optional<Content> find_page(const std::string& path) const;
  [[nodiscard]] std::optional<Content> find_file(const std::string& path) const;
  [[nodiscard]] bool has_page(const std::string& folder) const;

  sys::OpenFolder m_folder;
  std::function<void(const std::string&)> m_on_problem;
  std::unique_ptr<LiveSite> m_live;
};

}  // namespace wheelsmith::index
