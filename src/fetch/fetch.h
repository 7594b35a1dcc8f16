#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pep/project/project_page.h"
#include "store/store.h"
#include "sys/process/process.h"

// Downloads with curl (with the user's proxies, certificates and netrc), verified, resumed, and stored. Project pages
// list the files of the package index; fetched files are never run here.

namespace wheelsmith::fetch {

// pip's settings, as pip reads them: files (global, user, site; PIP_CONFIG_FILE), then PIP_* variables; sections
// [global] and [install]/[download].
struct IndexSettings {
  std::string index_url;  // "": pip's own default
  std::vector<std::string> extra_index_urls;
  std::vector<std::string> find_links;  // folders, files and pages
  bool no_index = false;
  std::string cert, client_cert, proxy;
  std::vector<std::string> trusted_hosts;
  int timeout_seconds = 15;
  int retries = 5;

  friend bool operator==(const IndexSettings&, const IndexSettings&) = default;
};
// `site_prefix` is the interpreter's sys.prefix, whose pip.conf counts too ("" for none).
IndexSettings read_pip_settings(const sys::Environment& environment, const std::filesystem::path& site_prefix);
// The default index of that interpreter's pip; "" if it has no pip. Runs the interpreter.
std::string pip_default_index(const std::filesystem::path& python);

struct Progress {
  std::string what;
  std::uint64_t done = 0, total = 0;  // total 0: unknown
};

struct FetchOptions {
  IndexSettings index;
  bool offline = false;
  std::filesystem::path python;                // queried for pip's default index when none is set
  std::map<std::string, std::string> mirrors;  // URL prefix -> URL prefix or folder
  std::function<void(const Progress&)> on_progress;
  std::function<bool()> stop;
};

class Fetcher {
 public:
  Fetcher(store::Store& store, FetchOptions options);

  // The project's files from all indexes and find-links folders together (like pip: no index has priority). Throws an
  // Error that distinguishes: no network, no such project, offline. Pages stay in memory for the run.
  const pep::ProjectPage& project(std::string_view name);
  // Null when every index answered that it has no such project. Throws Error when one did not answer and no other has
  // it.
  const pep::ProjectPage* find_project(std::string_view name);

  // The file in the store's downloads/, fetched if missing (also from file: URLs and folders). `sha256` "" accepts any
  // content (the page had no hash); later calls compare with its hash. Partial files are resumed. A wrong hash is an
  // Error that names both; nothing is stored.
  std::filesystem::path download(const std::string& url, const std::string& file_name, const std::string& sha256);

  [[nodiscard]] const FetchOptions& options() const { return m_options; }
  // Errors of unreadable indexes while others had the project.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return m_warnings; }
  // All indexes, the default one first.
  std::vector<std::string> indexes();

 private:
  std::string default_index();

  store::Store& m_store;
  FetchOptions m_options;
  std::map<std::string, pep::ProjectPage> m_pages;
  std::vector<std::string> m_warnings;
};

// Plain GET into memory, for pages of at most 64 MB; retried as pip would. For an HTTP status of 400 or more only the
// status is returned; throws Error when there is no answer. Credentials in URLs reach curl only on its standard input
// and appear in no message.
struct Response {
  int status = 0;
  std::string url;  // after redirects
  std::string content_type;
  std::string body;
};
Response get(const std::string& url, const FetchOptions& options, const std::vector<std::string>& headers = {});

// Uploads a file with PUT and returns the status. Retries as pip does; throws Error if no response arrives. Headers
// reach curl only on its standard input.
int put(const std::string& url, const std::filesystem::path& file, const FetchOptions& options,
        const std::vector<std::string>& headers);
// The status of a HEAD request.
int head(const std::string& url, const FetchOptions& options);

// The URL without user and password, for messages.
std::string without_credentials(std::string_view url);

}  // namespace wheelsmith::fetch
