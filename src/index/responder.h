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
#include "index/request.h"
#include "sys/open_folder.h"

namespace wheelsmith::index {

class LiveSite;

// A response: status and headers as sent, and the body in one of two forms.
struct Response {
  unsigned status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::shared_ptr<const std::string> text;    // either this
  std::shared_ptr<const sys::OpenFile> file;  // or a part of this
  std::uint64_t begin = 0;
  std::uint64_t size = 0;  // of the body; HEAD sends none of it

  // Status line and headers with the terminating empty line.
  [[nodiscard]] std::string head(bool keep_alive) const;
};

// A short plain-text response.
Response plain_response(unsigned status, std::string_view words);

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
class Responder {
 public:
  // An indexed folder is served as it is; for others the pages are rendered in memory, and again when the folder
  // changes. Nothing is written.
  explicit Responder(const ServeOptions& options);
  ~Responder();

  [[nodiscard]] Response answer(const Request& request) const;
  [[nodiscard]] bool is_live() const { return m_live != nullptr; }
  // Passes a sentence to on_problem.
  void tell(const std::string& problem) const;
  // Checks every file again if due; called periodically.
  void tick() const;

 private:
  struct Content;
  [[nodiscard]] Response answer_path(const Request& request, const Target& target) const;
  [[nodiscard]] Response answer_page(const Request& request, const std::string& folder, const Target& target) const;
  [[nodiscard]] std::optional<Content> find_page(const std::string& path) const;
  [[nodiscard]] std::optional<Content> find_file(const std::string& path) const;
  [[nodiscard]] bool has_page(const std::string& folder) const;
  [[nodiscard]] static Response deliver(const Request& request, const Content& content);

  sys::OpenFolder m_folder;
  std::function<void(const std::string&)> m_on_problem;
  std::unique_ptr<LiveSite> m_live;
};

}  // namespace wheelsmith::index
