#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "fetch/curl.h"

namespace wheelsmith::fetch {

namespace {

struct Authority {
  std::size_t begin = 0, end = 0;  // in the URL
  std::size_t host = 0;            // behind "user:password@"
  [[nodiscard]] bool has_user() const { return host != begin; }
};

std::optional<Authority> authority(std::string_view url) {
  const std::size_t mark = url.find("://");
  if (mark == std::string_view::npos || mark > url.find_first_of("/?#")) return std::nullopt;
  Authority result;
  result.begin = result.host = mark + 3;
  result.end = std::min(url.find_first_of("/?#", result.begin), url.size());
  const std::size_t at = url.substr(0, result.end).rfind('@');
  if (at != std::string_view::npos && at >= result.begin) result.host = at + 1;
  return result;
}

std::string user_of(std::string_view url) {
  const auto found = authority(url);
  if (!found || !found->has_user()) return "";
  return pep::percent_decoded(url.substr(found->begin, found->host - found->begin - 1));
}

}  // namespace

std::string without_credentials(std::string_view url) {
  const auto found = authority(url);
  if (!found) return std::string(url);
  return std::string(url.substr(0, found->begin)) + std::string(url.substr(found->host));
}

bool is_remote(std::string_view url) {
  const std::string scheme = to_lower(url.substr(0, std::min(url.find(':'), std::size_t{6})));
  return (scheme == "http" || scheme == "https") && authority(url).has_value();
}

std::string origin_of(std::string_view url) {
  const auto found = authority(url);
  if (!found || !is_remote(url)) return "";
  const std::string scheme = to_lower(url.substr(0, url.find(':')));
  std::string host = to_lower(url.substr(found->host, found->end - found->host));
  const std::string_view usual = scheme == "http" ? ":80" : ":443";
  if (host.ends_with(usual)) host.resize(host.size() - usual.size());
  return scheme + "://" + host;
}

std::string credentials_for(std::string_view url, const IndexSettings& settings) {
  if (std::string own = user_of(url); !own.empty()) return own;
  const std::string origin = origin_of(url);
  if (origin.empty()) return "";
  std::vector<std::string> known{settings.index_url};
  known.insert(known.end(), settings.extra_index_urls.begin(), settings.extra_index_urls.end());
  known.insert(known.end(), settings.find_links.begin(), settings.find_links.end());
  for (const std::string& other : known) {
    if (origin_of(other) != origin) continue;
    if (std::string user = user_of(other); !user.empty()) return user;
  }
  return "";
}

std::optional<std::filesystem::path> local_path(std::string_view url) {
  if (to_lower(url.substr(0, 5)) != "file:") {
    const std::size_t colon = url.find(':');
    const bool has_scheme = colon != std::string_view::npos && url.substr(colon).starts_with("://");
    return has_scheme ? std::nullopt : std::optional<std::filesystem::path>(std::string(url));
  }
  std::string_view path = url.substr(5);
  path = path.substr(0, path.find_first_of("?#"));
  if (path.starts_with("//")) {
    path.remove_prefix(2);
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string host = to_lower(path.substr(0, slash));
    if (!host.empty() && host != "localhost") {
      throw Error("the URL " + printable(url) + " refers to a file on another machine");
    }
    path.remove_prefix(slash);
  }
  std::string decoded = pep::percent_decoded(path);
  if (decoded.find('\0') != std::string::npos) throw Error("the URL " + printable(url) + " is not a valid file name");
  return std::filesystem::path(std::move(decoded));
}

std::string mirrored(const std::string& url, const std::map<std::string, std::string>& mirrors) {
  const std::pair<const std::string, std::string>* best = nullptr;
  for (const auto& mirror : mirrors) {
    const std::string& prefix = mirror.first;
    if (prefix.empty() || !url.starts_with(prefix)) continue;
    // "https://a/b" matches "https://a/b/c", not "https://a/bc" or "https://a.evil".
    const bool whole = prefix.ends_with('/') || url.size() == prefix.size() || url[prefix.size()] == '/';
    if (whole && (best == nullptr || prefix.size() > best->first.size())) best = &mirror;
  }
  if (best == nullptr) return url;
  std::string_view rest = std::string_view(url).substr(best->first.size());
  std::string result = best->second;
  while (rest.starts_with('/')) rest.remove_prefix(1);
  if (!rest.empty() && !result.ends_with('/')) result += '/';
  // A folder's names are not escaped.
  const auto folder = result.find("://") == std::string::npos && to_lower(result.substr(0, 5)) != "file:";
  return result + (folder ? pep::percent_decoded(rest.substr(0, rest.find_first_of("?#"))) : std::string(rest));
}

}  // namespace wheelsmith::fetch
