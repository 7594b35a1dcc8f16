// The curl program makes the requests: it knows the user's proxies, certificates and .netrc, and our static program has
// no resolver. Request details go to its standard input (`--config -`), because every user on the machine can read a
// command line and a URL may contain a password. The body goes to a file whose size is watched: for progress, and to
// limit servers that never stop.

#include "fetch/curl.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::fetch {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_mark = "wheelsmith-transfer ";
constexpr int k_most_redirects = 10;
constexpr int k_longest_page_seconds = 600;

class Config {
 public:
  void flag(std::string_view name) { m_text += fmt::format("{}\n", name); }
  void value(std::string_view name, std::string_view text) {
    m_text += fmt::format("{} = \"", name);
    for (const char c : text) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
        throw Error(fmt::format("the {} for curl contains a control character", name));
      }
      if (c == '"' || c == '\\') m_text += '\\';
      m_text += c;
    }
    m_text += "\"\n";
  }
  void number(std::string_view name, std::uint64_t number) { m_text += fmt::format("{} = {}\n", name, number); }
  void raw(std::string_view text) { m_text += text; }
  std::string take() { return std::move(m_text); }

 private:
  std::string m_text;
};

std::string host_of(std::string_view url) {
  const std::string origin = origin_of(url);
  return origin.substr(std::min(origin.find("://") + 3, origin.size()));
}

bool is_trusted(std::string_view url, const IndexSettings& settings) {
  const std::string host = host_of(url);
  const std::string name = host.substr(0, host.rfind(':'));
  return std::any_of(settings.trusted_hosts.begin(), settings.trusted_hosts.end(), [&](const std::string& trusted) {
    return to_lower(trusted) == host || to_lower(trusted) == name;
  });
}

void add_identity(Config& config, std::string_view url, const IndexSettings& settings) {
  const std::string user = credentials_for(url, settings);
  if (user.empty()) {
    config.flag("netrc-optional");
  } else {
    config.value("user", user.find(':') == std::string::npos ? user + ":" : user);
  }
  std::error_code ignored;
  if (!settings.cert.empty())
    config.value(fs::is_directory(settings.cert, ignored) ? "capath" : "cacert", settings.cert);
  if (!settings.client_cert.empty()) config.value("cert", settings.client_cert);
  if (!settings.proxy.empty()) config.value("proxy", settings.proxy);
  if (is_trusted(url, settings)) config.flag("insecure");
}

std::uint64_t size_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  return error ? 0 : size;
}

}  // namespace

std::string curl_config(const Transfer& transfer, const FetchOptions& options) {
  const IndexSettings& settings = options.index;
  const bool secure = to_lower(transfer.url.substr(0, 6)) == "https:";
  const auto timeout = static_cast<std::uint64_t>(std::max(1, settings.timeout_seconds));
  Config config;
  const std::string_view text = transfer.url;
  config.value("url", pep::percent_encoded(without_credentials(text.substr(0, text.find('#')))));
  for (const std::string_view name : {"globoff", "silent", "show-error", "fail"}) config.flag(name);
  if (transfer.upload.empty())
    config.flag("location");
  else
    config.value("upload-file", transfer.upload.string());
  config.number("max-redirs", k_most_redirects);
  config.value("proto", "=http,https");
  // An https request must not be redirected to http.
  config.value("proto-redir", secure && !is_trusted(text, settings) ? "=https" : "=http,https");
  config.number("connect-timeout", timeout);
  config.number("speed-limit", 1);
  config.number("speed-time", timeout);
  if (transfer.head) config.flag("head");
  if (transfer.page || transfer.head) {
    if (transfer.page) config.flag("compressed");
    config.number("max-time", std::max<std::uint64_t>(k_longest_page_seconds, timeout));
  }
  if (transfer.most_bytes != 0) config.number("max-filesize", transfer.most_bytes);
  config.value("user-agent", "wheelsmith/" WHEELSMITH_VERSION);
  for (const std::string& header : transfer.headers) config.value("header", header);
  add_identity(config, text, settings);
  config.value("output", transfer.output.string());
  if (!transfer.response_headers.empty()) config.value("dump-header", transfer.response_headers.string());
  if (transfer.resume) config.value("continue-at", "-");
  config.raw(fmt::format("write-out = \"{}%{{http_code}} %{{url_effective}} %{{content_type}}\\n\"\n", k_mark));
  return config.take();
}

void read_curl_output(std::string_view output, Transferred& result) {
  for (const std::string_view line : lines(output)) {
    if (!line.starts_with(k_mark)) {
      if (result.message.empty()) result.message = printable(trim(line).substr(0, 300));
      continue;
    }
    const std::string_view rest = line.substr(k_mark.size());
    const std::size_t first = std::min(rest.find(' '), rest.size());
    const std::size_t second = std::min(rest.find(' ', first + 1), rest.size());
    result.status = static_cast<int>(to_number(rest.substr(0, first)).value_or(0) % 1000);
    if (first < rest.size()) result.url = rest.substr(first + 1, second - first - 1);
    if (second < rest.size()) result.content_type = to_lower(trim(rest.substr(second + 1)));
  }
}

Transferred transfer_once(const Transfer& transfer, const FetchOptions& options, const Watch& watch) {
  if (!is_remote(transfer.url)) {
    throw Error(fmt::format("cannot fetch {}: only http:, https: and file: URLs are supported",
                            printable(without_credentials(transfer.url))));
  }
  sys::Command command;
  command.argv = {"curl", "-q", "--config", "-"};  // -q: ~/.curlrc could override any of this
  command.input = curl_config(transfer, options);
  if (sys::find_program("curl").empty()) {
    throw Error("curl is not installed; downloads need it (Debian, Ubuntu: apt install curl)");
  }
  Transferred result;
  result.url = without_credentials(transfer.url);
  std::string output;
  sys::Process process(command);
  const sys::Exit exit = process.wait(
      [&](std::string_view part) {
        if (output.size() < 65'536) output += part;
      },
      [&] {
        const std::uint64_t size = size_of(transfer.output);
        result.too_large = transfer.most_bytes != 0 && size > transfer.most_bytes;
        result.stopped = (options.stop && options.stop()) || (watch && watch(size));
        return result.too_large || result.stopped;
      },
      std::chrono::milliseconds(500));
  result.curl = exit.code;
  result.stopped = result.stopped || (exit.stopped && !result.too_large);  // an interrupt
  read_curl_output(output, result);
  result.too_large = result.too_large || result.curl == 63 ||
                     (transfer.most_bytes != 0 && size_of(transfer.output) > transfer.most_bytes);
  return result;
}

}  // namespace wheelsmith::fetch
