#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "fetch/curl.h"
#include "sys/file.h"

namespace wheelsmith::fetch {

namespace {

// The status of the response, also of a refusal.
int status_of(const Transfer& transfer, const FetchOptions& options) {
  if (options.offline)
    throw Error(fmt::format("cannot connect to {}: --offline is set", printable(without_credentials(transfer.url))));
  Transferred result = transfer_once(transfer, options);
  for (int retry = 0; wait_for_retry(retry, result, options); ++retry) result = transfer_once(transfer, options);
  if (!result.good() && (result.status < 400 || result.stopped))
    throw Error(failure_text(result, transfer.url, options));
  return result.status;
}

}  // namespace

int put(const std::string& url, const std::filesystem::path& file, const FetchOptions& options,
        const std::vector<std::string>& headers) {
  const sys::TempDir folder;
  Transfer transfer;
  transfer.url = url;
  transfer.headers = headers;
  transfer.output = folder.path() / "answer";
  transfer.upload = file;
  return status_of(transfer, options);
}

int head(const std::string& url, const FetchOptions& options) {
  const sys::TempDir folder;
  Transfer transfer;
  transfer.url = url;
  transfer.output = folder.path() / "answer";
  transfer.head = true;
  return status_of(transfer, options);
}

}  // namespace wheelsmith::fetch
