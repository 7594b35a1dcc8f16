// Serves only the pages of the index, the files it lists, and their sidecars. Hidden names are not served; a folder
// without a page has no listing.

#include "index/serve/responder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "index/pages/page_parts.h"
#include "index/provenance.h"
#include "index/serve/live_site.h"
#include "pep/wheel_name.h"

namespace wheelsmith::index {

namespace {

std::string type_of(std::string_view path) {
  if (path.ends_with(".html")) return std::string(k_html_type);
  if (path.ends_with(".v1_json")) return std::string(k_json_type);
  if (path.ends_with(".json") || path.ends_with(".provenance") || path.ends_with(".attestation"))
    return "application/json";
  if (path.ends_with(".asc")) return "application/pgp-signature";
  if (path.ends_with(".metadata")) return "text/plain; charset=utf-8";
  return "application/octet-stream";
}

bool is_page_name(std::string_view path) {
  const std::string_view name = base_name(path);
  return name == "index.html" || name == "index.v1_json" || name == "find-links.html" ||
         name.ends_with("-variants.json");
}

bool is_hidden(std::string_view path) { return path.starts_with('.') || path.find("/.") != std::string_view::npos; }

Response moved(const std::string& place) {
  Response response = plain_response(301, "moved to " + place);
  response.headers.emplace_back("Location", place);
  return response;
}

}  // namespace

Responder::Responder(const ServeOptions& options)
    : m_folder(std::filesystem::canonical(options.folder)), m_on_problem(options.on_problem) {
  const bool indexed = m_folder.stat_of(k_state_file).has_value();
  if (options.live || !indexed) m_live = std::make_unique<LiveSite>(m_folder, options);
}

Responder::~Responder() = default;

void Responder::tell(const std::string& problem) const {
  if (m_on_problem) m_on_problem(problem);
}

void Responder::tick() const {
  if (m_live) m_live->tick();
}

std::optional<Content> Responder::find_page(const std::string& path) const {
  if (m_live) {
    const auto page = m_live->current()->page(path);
    if (!page) return std::nullopt;
    return Content{page->text, nullptr, type_of(path), page->etag, "", false};
  }
  auto file = m_folder.open_file(path);
  if (!file) return std::nullopt;
  const sys::FileStat stat = file->stat();
  return Content{nullptr,
                 std::make_shared<const sys::OpenFile>(std::move(*file)),
                 type_of(path),
                 etag_of(stat),
                 http_time(stat.modified),
                 false};
}

bool Responder::has_page(const std::string& folder) const {
  const std::string prefix = folder.empty() ? "" : folder + "/";
  if (m_live) {
    const auto snapshot = m_live->current();
    return snapshot->has_page(prefix + "index.html") || snapshot->has_page(prefix + "index.v1_json");
  }
  return m_folder.stat_of(prefix + "index.html") || m_folder.stat_of(prefix + "index.v1_json");
}

std::optional<Content> Responder::find_file(const std::string& path) const {
  std::string listed = path;
  std::string_view beside;
  const auto cut = [&](std::string_view ending) {
    if (!path.ends_with(ending) || !looks_like_distribution(path.substr(0, path.size() - ending.size()))) return;
    listed = path.substr(0, path.size() - ending.size());
    beside = ending;
  };
  cut(".metadata");
  cut(".provenance");
  for (const std::string_view ending : k_beside) cut(ending);
  if (!looks_like_distribution(listed)) return std::nullopt;
  const auto snapshot = m_live ? m_live->current() : nullptr;
  const File* known = snapshot ? snapshot->file(listed) : nullptr;
  if (snapshot && known == nullptr) return std::nullopt;
  if (known != nullptr && beside == ".provenance" && !known->has_provenance) return std::nullopt;
  if (known != nullptr && beside == ".publish.attestation" && !known->has_beside(beside)) return std::nullopt;
  if (known != nullptr && beside == ".metadata") {
    // The file need not exist: the contents come from the wheel, and must match the page's hash.
    const auto wheel = m_folder.open_file(listed);
    auto text = wheel ? read_metadata(*wheel, known->parts) : std::nullopt;
    if (!text || to_hex(sha256(Bytes(*text))) != known->facts.metadata_sha256) return std::nullopt;
    return Content{std::make_shared<const std::string>(std::move(*text)),
                   nullptr,
                   type_of(path),
                   "\"" + known->facts.metadata_sha256 + "\"",
                   "",
                   false};
  }
  auto file = m_folder.open_file(path);
  if (!file) return std::nullopt;
  const sys::FileStat stat = file->stat();
  const bool as_listed = known != nullptr && beside.empty() && stat == known->stat;
  return Content{nullptr,
                 std::make_shared<const sys::OpenFile>(std::move(*file)),
                 type_of(path),
                 as_listed ? "\"" + known->facts.sha256 + "\"" : etag_of(stat),
                 http_time(stat.modified),
                 false};
}

Response Responder::answer_page(const Request& request, const std::string& folder, const Target& target) const {
  const std::string prefix = folder.empty() ? "" : folder + "/";
  if (!has_page(folder)) {
    // PEP 503: a name that is not normalized redirects to the normalized one.
    const std::string last(base_name(folder));
    const std::string normal = pep::normalized_name(last);
    const std::string other = folder.substr(0, folder.size() - last.size()) + normal;
    if (!folder.empty() && normal != last && has_page(other)) return moved("../" + url_escaped(normal) + "/");
    return plain_response(404, "");
  }
  const auto choice = choose_page(request.header("accept"), target.query);
  if (!choice)
    return plain_response(
        406, "supported types: application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html, text/html");
  auto content = find_page(prefix + (choice->json ? "index.v1_json" : "index.html"));
  if (content) {
    content->type = choice->content_type;
  } else {  // a folder indexed in one form only
    content = find_page(prefix + (choice->json ? "index.html" : "index.v1_json"));
  }
  if (!content) return plain_response(404, "");
  content->negotiated = true;
  return deliver(request, *content);
}

Response Responder::answer_path(const Request& request, const Target& target) const {
  std::string path = target.path;
  if (is_hidden(path)) return plain_response(404, "");
  // Users often append /simple/ to the address of an index.
  if ((path == "simple" || path.starts_with("simple/")) && !has_page("simple")) {
    if (path == "simple" && !target.folder) return moved("simple/");
    path.erase(0, 7);
  }
  if (target.folder) return answer_page(request, path, target);
  if (is_page_name(path)) {
    if (const auto page = find_page(path)) return deliver(request, *page);
  }
  if (const auto file = find_file(path)) return deliver(request, *file);
  const std::string last(base_name(path));
  if (has_page(path)) return moved(url_escaped(last) + "/");
  const std::string normal = pep::normalized_name(last);
  if (normal != last && has_page(path.substr(0, path.size() - last.size()) + normal))
    return moved(url_escaped(normal) + "/");
  return plain_response(404, "");
}

Response Responder::answer(const Request& request) const {
  if (request.method != "GET" && request.method != "HEAD") {
    Response response = plain_response(405, "");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  const auto target = parse_target(request.target);
  if (!target) return plain_response(400, "");
  try {
    return answer_path(request, *target);
  } catch (const Error& error) {  // answer this request; clients do not see details of disk errors
    tell(fmt::format("{}: {}", printable(request.target), error.what()));
    return plain_response(500, "");
  }
}

}  // namespace wheelsmith::index
