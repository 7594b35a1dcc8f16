#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fetch/fetch.h"

// Inside this module only: one curl request.

namespace wheelsmith::fetch {

struct Transfer {
  std::string url;
  std::vector<std::string> headers;
  std::filesystem::path output;
  std::filesystem::path response_headers;  // the file for received headers; "" for none
  bool resume = false;                     // resume at the end of `output`
  bool head = false;                       // only the headers
  std::filesystem::path upload{};          // PUT this file; redirects are not followed
  bool page = false;                       // may be compressed, must be small and quick
  std::uint64_t most_bytes = 0;            // 0: no limit
};

struct Transferred {
  int curl = 0;    // its exit status
  int status = 0;  // HTTP's
  std::string url, content_type;
  std::string message;  // curl's message
  bool stopped = false, too_large = false;

  [[nodiscard]] bool good() const { return curl == 0 && !stopped && !too_large; }
};

// Called periodically with the bytes received; true ends the transfer.
using Watch = std::function<bool(std::uint64_t)>;

// curl's standard input.
std::string curl_config(const Transfer& transfer, const FetchOptions& options);
// Parses curl's output: its messages, and the line that our config requests.
void read_curl_output(std::string_view output, Transferred& result);

// One attempt. Throws Error without curl, or for a URL that may not be fetched.
Transferred transfer_once(const Transfer& transfer, const FetchOptions& options, const Watch& watch = {});

// Whether a retry may succeed.
bool is_transient(const Transferred& result);
// Waits as long as pip would before the given retry (counted from 0); false when stopped meanwhile, or when no retries
// are left.
bool wait_for_retry(int retry, const Transferred& result, const FetchOptions& options);
// One sentence for the user: the problem and its fix.
std::string failure_text(const Transferred& result, std::string_view url, const FetchOptions& options);

// "user:password" for the URL, decoded: its own, or that of an index or a find-links page of the same origin.
std::string credentials_for(std::string_view url, const IndexSettings& settings);
bool is_remote(std::string_view url);  // http: or https:
// "https://host:8080", lower case, without credentials; "" for a URL that is not remote.
std::string origin_of(std::string_view url);
// The path of a file: URL or a plain path; nothing for other schemes. Throws for a file: URL of another machine.
std::optional<std::filesystem::path> local_path(std::string_view url);
// The URL through the mirror with the longest matching prefix.
std::string mirrored(const std::string& url, const std::map<std::string, std::string>& mirrors);

}  // namespace wheelsmith::fetch
