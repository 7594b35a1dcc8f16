#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "fetch/curl.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::fetch {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_largest_page = 64ull << 20;

std::string type_of(const fs::path& file) { return file.extension() == ".json" ? "application/json" : "text/html"; }

Response get_local(const fs::path& path, const std::string& url) {
  Response response;
  response.status = 404;
  response.url = url;
  fs::path file = path;
  if (sys::is_folder(file)) {
    // Relative links are resolved inside the folder.
    if (!response.url.ends_with('/')) response.url += '/';
    file /= "index.html";
  }
  if (auto text = sys::read_file_if_there(file, k_largest_page)) {
    response.status = 200;
    response.content_type = type_of(file);
    response.body = std::move(*text);
  }
  return response;
}

}  // namespace

Response get(const std::string& wanted, const FetchOptions& options, const std::vector<std::string>& headers) {
  const std::string url = mirrored(wanted, options.mirrors);
  if (const auto path = local_path(url)) return get_local(*path, url);
  if (options.offline) {
    throw Error(fmt::format("cannot fetch {} with --offline", printable(without_credentials(url))));
  }
  const sys::TempDir folder;
  Transfer transfer;
  transfer.url = url;
  transfer.headers = headers;
  transfer.output = folder.path() / "page";
  transfer.page = true;
  transfer.most_bytes = k_largest_page;
  Transferred result = transfer_once(transfer, options);
  for (int retry = 0; wait_for_retry(retry, result, options); ++retry) result = transfer_once(transfer, options);
  if (!result.good() && (result.status < 400 || result.stopped || result.too_large)) {
    throw Error(failure_text(result, url, options));
  }
  Response response;
  response.status = result.status;
  response.url = result.url;
  response.content_type = result.content_type;
  if (result.good()) response.body = sys::read_file_if_there(transfer.output, k_largest_page).value_or("");
  return response;
}

}  // namespace wheelsmith::fetch
