// Messages for curl's exit statuses. The numbers are from its manual, EXIT CODES.

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/text.h"
#include "fetch/curl.h"
#include "fetch/curl_status.h"

namespace wheelsmith::fetch {

namespace {

constexpr int k_retries_without_network = 2;

std::string status_text(int status, const std::string& shown) {
  switch (status) {
    case 401:
    case 407:
      return fmt::format(
          "{} requires a user and a password (HTTP {}): put them into the index URL, into ~/.netrc, or, for a "
          "proxy, into pip's setting `proxy`",
          shown, status);
    case 403:
      return fmt::format("access to {} denied (HTTP 403): by the server for this user, or by a proxy for this host",
                         shown);
    case 404:
    case 410: return fmt::format("{} not found (HTTP {})", shown, status);
    case 429: return fmt::format("{}: too many requests (HTTP 429); try again later", shown);
    default: return fmt::format("{} returned HTTP {}", shown, status);
  }
}

}  // namespace

bool is_transient(const Transferred& result) {
  if (result.good() || result.stopped || result.too_large) return false;
  if (result.curl == k_http_status) {
    const int status = result.status;
    return status == 408 || status == 425 || status == 429 || (status >= 500 && status != 501 && status != 505);
  }
  constexpr int k_codes[] = {k_no_proxy_name, k_no_host_name,   k_no_connection, k_http2,
                             k_partial,       k_timeout,        k_tls_connect,   k_nothing_came,
                             k_send_failed,   k_receive_failed, k_http2_stream};
  return std::find(std::begin(k_codes), std::end(k_codes), result.curl) != std::end(k_codes);
}

bool wait_for_retry(int retry, const Transferred& result, const FetchOptions& options) {
  const bool no_network =
      result.curl == k_no_proxy_name || result.curl == k_no_host_name || result.curl == k_no_connection;
  // A machine without a network should fail soon.
  const int most = no_network ? std::min(options.index.retries, k_retries_without_network) : options.index.retries;
  if (retry >= most || !is_transient(result)) return false;
  auto left = std::chrono::milliseconds(250 << std::min(retry, 5));
  constexpr std::chrono::milliseconds k_nap(50);
  for (; left.count() > 0; left -= k_nap) {
    if ((options.stop && options.stop()) || sys::interrupted()) return false;
    std::this_thread::sleep_for(std::min(left, k_nap));
  }
  return true;
}

std::string failure_text(const Transferred& result, std::string_view url, const FetchOptions& options) {
  const std::string shown = printable(without_credentials(url));
  if (result.stopped) return fmt::format("download of {} interrupted", shown);
  if (result.too_large) return fmt::format("{} is too large for an index page", shown);
  const std::string own_words = result.message.empty() ? "" : fmt::format(" ({})", result.message);
  switch (result.curl) {
    case k_http_status: return status_text(result.status, shown);
    case k_no_proxy_name: return fmt::format("no network: cannot resolve the proxy's name{}", own_words);
    case k_no_host_name:
    case k_no_connection:
      return fmt::format(
          "no network, or the server is down: cannot reach {}{}; `--offline` builds from what is in the "
          "store",
          shown, own_words);
    case k_timeout:
      return fmt::format("{} did not answer within {} s (pip's setting `timeout`)", shown,
                         options.index.timeout_seconds);
    case k_partial:
    case k_receive_failed:
    case k_http2_stream:
      return fmt::format("the download of {} broke off{}; rerun the same command to resume it", shown, own_words);
    case k_tls_connect:
    case k_client_cert:
    case k_bad_certificate:
    case k_bad_ca_file:
      return fmt::format(
          "the TLS connection to {} is not trusted{}: set pip's setting `cert` (PIP_CERT) to the file of "
          "your certificate authority",
          shown, own_words);
    case k_too_many_redirects: return fmt::format("too many redirects from {}", shown);
    case k_protocol_refused:
      return fmt::format("{} redirects to a URL that is less secure than https; not followed{}", shown, own_words);
    case k_write_failed: return fmt::format("cannot write {} to the store{}", shown, own_words);
    default: return fmt::format("cannot fetch {}: curl exited with status {}{}", shown, result.curl, own_words);
  }
}

}  // namespace wheelsmith::fetch
