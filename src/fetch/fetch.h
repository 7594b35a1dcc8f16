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

// Downloads: by curl (proxies, certificates and netrc as users know them), verified, resumed, kept in the store. What
// the registry holds is read from project pages; nothing that is fetched is ever run here.

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
// What pip of that interpreter takes where nothing is set; "" where it has no pip. Starts it.
std::string pip_default_index(const std::filesystem::path& python);

struct Progress {
  std::string what;
  std::uint64_t done = 0, total = 0;  // total 0: not known
};

struct FetchOptions {
  IndexSettings index;
  bool offline = false;
  std::filesystem::path python;                // asked for pip's default index where none is set
  std::map<std::string, std::string> mirrors;  // URL prefix -> URL prefix or folder
  std::function<void(const Progress&)> on_progress;
  std::function<bool()> stop;
};

class Fetcher {
 public:
  Fetcher(store::Store& store, FetchOptions options);

  // The project's files from all indexes and find-links folders together (pip's way: no index goes first). Throws Error
  // that tells apart: no network, no such project, offline. Pages are kept in memory for the run.
  const pep::ProjectPage& project(std::string_view name);
  // Null when every place that was asked answered that it has no such project. Throws Error when one did not answer and
  // no other has it.
  const pep::ProjectPage* find_project(std::string_view name);

  // The file in the store's downloads/, fetched when it is not there (also from file: URLs and folders). `sha256` ""
  // takes what comes (the page had no hash); then the hash it has is what later calls compare with. Partial files are
  // resumed. A wrong hash is an Error that names both; nothing is kept.
  std::filesystem::path download(const std::string& url, const std::string& file_name, const std::string& sha256);

  [[nodiscard]] const FetchOptions& options() const { return m_options; }
  // Indexes that could not be read while others knew the project, in the words of the Error they would have been.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return m_warnings; }
  // Every index that is asked, the default one first.
  std::vector<std::string> indexes();

 private:
  std::string default_index();

  store::Store& m_store;
  FetchOptions m_options;
  std::map<std::string, pep::ProjectPage> m_pages;
  std::vector<std::string> m_warnings;
};

// Plain GET into memory, for pages of at most 64 MB; retried as pip would. Of an HTTP status of 400 and more only the
// status comes back; throws Error where there is no answer at all. Credentials in URLs reach curl on its standard
// input only and appear in no message.
struct Response {
  int status = 0;
  std::string url;  // in the end
  std::string content_type;
  std::string body;
};
Response get(const std::string& url, const FetchOptions& options, const std::vector<std::string>& headers = {});

// PUT of a file; the status that came. Retried as pip would; throws Error where there is no answer. Headers reach curl
// on its standard input only.
int put(const std::string& url, const std::filesystem::path& file, const FetchOptions& options,
        const std::vector<std::string>& headers);
// The status of a HEAD request.
int head(const std::string& url, const FetchOptions& options);

// The URL without user and password, for messages.
std::string without_credentials(std::string_view url);

}  // namespace wheelsmith::fetch
