// A project's files, from every place that pip would search: the index, the extra indexes and find-links have equal
// rank, and the newest version wins. As with pip, an unreachable index is an error only when no other one has the
// project; skipped indexes are reported as a warning.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "fetch/curl.h"
#include "pep/requirement.h"
#include "pep/wheel_name.h"
#include "sys/file.h"
#include "sys/file_state.h"

namespace wheelsmith::fetch {

namespace fs = std::filesystem;

namespace {

constexpr const char* k_accept =
    "Accept: application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";

bool belongs_to(const pep::ProjectFile& file, const std::string& project) {
  if (file.is_sdist()) return pep::sdist_version(file.name, project).has_value();
  if (!file.is_wheel()) return false;
  return pep::normalized_name(file.name.substr(0, file.name.find('-'))) == project;
}

std::string file_url(const fs::path& path) {
  std::string plain = fs::absolute(path).lexically_normal().string();
  while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  return pep::file_url(plain);
}

pep::ProjectFile local_file(const fs::path& path) {
  pep::ProjectFile file;
  file.name = path.filename().string();
  file.url = file_url(path);
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error) file.size = size;
  return file;
}

std::vector<pep::ProjectFile> folder_files(const fs::path& folder) {
  std::vector<pep::ProjectFile> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored) && pep::is_safe_file_name(entry->path().filename().string())) {
      files.push_back(local_file(entry->path()));
    }
  }
  if (error) throw Error(fmt::format("cannot read the folder {}: {}", folder.string(), error.message()));
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return files;
}

pep::ProjectPage parse_page(const Response& response) {
  const std::string_view body = response.body;
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  const bool braces = first != std::string_view::npos && body[first] == '{';
  const bool json = response.content_type.find("json") != std::string::npos || braces;
  try {
    return json ? pep::parse_project_json(body, response.url) : pep::parse_project_html(body, response.url);
  } catch (const Error& error) {
    throw error.in(printable(without_credentials(response.url)));
  }
}

// An index's page of the project; nothing if it has none.
std::optional<std::vector<pep::ProjectFile>> index_files(const std::string& index, const std::string& project,
                                                         const FetchOptions& options) {
  const std::string url = index + (index.ends_with('/') ? "" : "/") + project + "/";
  const auto path = local_path(mirrored(url, options.mirrors));
  std::error_code ignored;
  // A folder of files without a page also counts as an index.
  if (path && sys::is_folder(*path) && !fs::exists(*path / "index.html", ignored)) return folder_files(*path);
  const Response response = get(path ? file_url(*path) : url, options, {k_accept});
  if (response.status == 404 || response.status == 410) return std::nullopt;
  if (response.status >= 400) {
    Transferred result;
    result.curl = 22;
    result.status = response.status;
    throw Error(failure_text(result, url, options));
  }
  return parse_page(response).files;
}

// A find-links entry: a folder, a page, or a single file; local or remote.
std::vector<pep::ProjectFile> linked_files(const std::string& link, const FetchOptions& options) {
  const auto path = local_path(mirrored(link, options.mirrors));
  if (path && sys::is_folder(*path)) return folder_files(*path);
  const std::string name(base_name(pep::percent_decoded(std::string_view(link).substr(0, link.find_first_of("?#")))));
  pep::ProjectFile single;
  single.name = name;
  if (single.is_wheel() || single.is_sdist()) {
    if (path) return fs::exists(*path) ? std::vector{local_file(*path)} : std::vector<pep::ProjectFile>{};
    // As a page with one link: its hash is read like any other.
    return pep::parse_project_html("<a href=\"" + pep::percent_encoded(link) + "\">", "").files;
  }
  const Response response = get(path ? file_url(*path) : link, options, {k_accept});
  if (response.status >= 400) {
    throw Error(fmt::format("find-links {} does not exist", printable(without_credentials(link))));
  }
  return parse_page(response).files;
}

}  // namespace

std::string Fetcher::default_index() {
  if (!m_options.index.index_url.empty()) return m_options.index.index_url;
  if (m_options.python.empty()) return "";
  const std::string python = m_options.python.string();
  const sys::FileState state(m_options.python);
  if (auto known = m_store.remembered("pip-index", python, state.key())) return *known;
  const std::string url = pip_default_index(m_options.python);
  if (const auto key = url.empty() ? std::nullopt : state.key_to_keep())
    m_store.remember("pip-index", python, *key, url);
  return url;
}

Fetcher::Fetcher(store::Store& store, FetchOptions options) : m_store(store), m_options(std::move(options)) {}

const pep::ProjectPage& Fetcher::project(std::string_view wanted) {
  if (const pep::ProjectPage* page = find_project(wanted)) return *page;
  std::vector<std::string> asked = m_options.index.find_links;
  for (std::string& index : indexes()) asked.push_back(std::move(index));
  for (std::string& place : asked) place = printable(without_credentials(place));
  const std::string name = pep::normalized_name(wanted);
  throw Error(
      asked.empty()
          ? fmt::format("cannot look up {}: no package index is configured, and no Python with pip was found", name)
          : fmt::format("no project {} in {}", name, join(asked, ", ")));
}

const pep::ProjectPage* Fetcher::find_project(std::string_view wanted) {
  if (!pep::is_valid_name(wanted)) throw Error(fmt::format("\"{}\" is not a valid project name", printable(wanted)));
  const std::string name = pep::normalized_name(wanted);
  if (const auto known = m_pages.find(name); known != m_pages.end()) return &known->second;
  pep::ProjectPage page{.name = name, .files = {}};
  std::set<std::pair<std::string, std::string>> seen;  // the same file is often listed twice
  std::vector<std::string> failures;
  const auto add = [&](const auto& files_of) {
    try {
      for (pep::ProjectFile& file : files_of()) {
        const auto hash = file.hashes.find("sha256");
        const std::string identity = hash == file.hashes.end() ? file.url : hash->second;
        if (belongs_to(file, name) && seen.emplace(file.name, identity).second) page.files.push_back(std::move(file));
      }
    } catch (const Error& error) {  // another place may have it
      if ((m_options.stop && m_options.stop()) || sys::interrupted()) throw;
      failures.emplace_back(error.what());
    }
  };
  for (const std::string& link : m_options.index.find_links) {
    add([&] { return linked_files(link, m_options); });
  }
  for (const std::string& index : indexes()) {
    add([&] { return index_files(index, name, m_options).value_or(std::vector<pep::ProjectFile>{}); });
  }
  if (page.files.empty() && !failures.empty()) throw Error(failures.front());
  if (page.files.empty()) return nullptr;
  m_warnings.insert(m_warnings.end(), failures.begin(), failures.end());
  return &m_pages.emplace(name, std::move(page)).first->second;
}

std::vector<std::string> Fetcher::indexes() {
  if (m_options.index.no_index) return {};
  std::vector<std::string> result;
  if (const std::string first = default_index(); !first.empty()) result.push_back(first);
  for (const std::string& extra : m_options.index.extra_index_urls) result.push_back(extra);
  return result;
}

}  // namespace wheelsmith::fetch
