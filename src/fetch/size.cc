#include "fetch/size.h"

#include "base/error.h"
#include "base/text.h"
#include "fetch/curl.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::fetch {

std::optional<std::uint64_t> remote_size(const std::string& wanted, const FetchOptions& options) {
  const std::string url = mirrored(wanted, options.mirrors);
  if (options.offline || !is_remote(url)) return std::nullopt;
  const sys::TempDir folder;
  Transfer transfer;
  transfer.url = url;
  transfer.output = folder.path() / "nothing";
  transfer.response_headers = folder.path() / "headers";
  transfer.head = true;
  try {
    if (!transfer_once(transfer, options).good()) return std::nullopt;
  } catch (const Error&) {  // the download will report the problem
    return std::nullopt;
  }
  // Each redirect has its own headers; the last ones belong to the file.
  std::optional<std::uint64_t> size;
  const std::string headers = sys::read_file_if_there(transfer.response_headers, 1 << 20).value_or("");
  constexpr std::string_view k_length = "content-length:";
  for (const std::string_view line : lines(headers)) {
    if (line.starts_with("HTTP/")) size.reset();
    if (to_lower(line.substr(0, k_length.size())) == k_length) size = to_number(trim(line.substr(k_length.size())));
  }
  return size;
}

}  // namespace wheelsmith::fetch
