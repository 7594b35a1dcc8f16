#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fetch/fetch.h"

// Inside this module only: one request by curl.

namespace wheelsmith::fetch {

struct Transfer {
  std::string url;
  std::vector<std::string> headers;
  std::filesystem::path output;
  std::filesystem::path response_headers;  // where curl writes those that came; "" for nowhere
  bool resume = false;                     // go on at the end of what `output` holds
  bool head = false;                       // only the headers
  std::filesystem::path upload{};          // PUT of this file; redirects are not followed
  bool page = false;                       // may come compressed, has to be small and quick
  std::uint64_t most_bytes = 0;            // 0: no limit
};

struct Transferred {
  int curl = 0;    // its exit status
  int status = 0;  // HTTP's
  std::string url, content_type;
  std::string message;  // curl's own words
  bool stopped = false, too_large = false;

  [[nodiscard]] bool good() const { return curl == 0 && !stopped && !too_large; }
};

// Called now and then with the bytes that are there; true ends the transfer.
using Watch = std::function<bool(std::uint64_t)>;

// What curl reads on its standard input.
std::string curl_config(const Transfer& transfer, const FetchOptions& options);
// What curl printed: its complaints, and the line that our config asks for.
void read_curl_output(std::string_view output, Transferred& result);

// Once, without retries. Throws Error where there is no curl, or the URL is none that may be fetched.
Transferred transfer_once(const Transfer& transfer, const FetchOptions& options, const Watch& watch = {});

// Whether the same again may well succeed.
bool is_transient(const Transferred& result);
// Waits as long as pip would before the given retry (counted from 0); false when it was stopped meanwhile, or when
// there is to be none.
bool wait_for_retry(int retry, const Transferred& result, const FetchOptions& options);
// One sentence for the user: what went wrong and what mends it.
std::string failure_text(const Transferred& result, std::string_view url, const FetchOptions& options);

// "user:password" for the URL, decoded: its own, or that of an index or a find-links page of the same origin.
std::string credentials_for(std::string_view url, const IndexSettings& settings);
bool is_remote(std::string_view url);  // http: or https:
// "https://host:8080", lower case, without credentials; "" for what is no remote URL.
std::string origin_of(std::string_view url);
// The path behind a file: URL or a plain path; nothing for other schemes. Throws for a file: URL of another machine.
std::optional<std::filesystem::path> local_path(std::string_view url);
// The URL by the mirror whose prefix is the longest that fits.
std::string mirrored(const std::string& url, const std::map<std::string, std::string>& mirrors);

}  // namespace wheelsmith::fetch
