#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/project/project_page.h"
#include "rocm/fetch/fetch.h"
#include "sys/file.h"

// Lists the files of a run. A folder is listed directly; on a web server the links of the folder's page are the files;
// a bucket rejects such a request, so its listing API is used, in pages of a thousand.
//
// The pages are untrusted. Only valid file names are returned.

namespace wheelsmith::rocm {

namespace {

constexpr std::size_t k_most_files = 1'000'000;
constexpr int k_most_pages = 1000;

// The text between <name> and </name> from `at` on; `at` is moved past it.
std::optional<std::string_view> element(std::string_view xml, std::string_view name, std::size_t& at) {
  const std::string open = fmt::format("<{}>", name);
  const std::string close = fmt::format("</{}>", name);
  const std::size_t begin = xml.find(open, at);
  if (begin == xml.npos) return std::nullopt;
  const std::size_t end = xml.find(close, begin);
  if (end == xml.npos) throw Error(fmt::format("the listing is truncated inside <{}>", name));
  at = end + close.size();
  return xml.substr(begin + open.size(), end - begin - open.size());
}

std::optional<std::string_view> only_element(std::string_view xml, std::string_view name) {
  std::size_t at = 0;
  return element(xml, name, at);
}

// &amp; &lt; &gt; &quot; &apos; and numbers below 128; other entities stay as they are, and make the name invalid.
std::string without_entities(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = text[i] == '&' ? text.find(';', i) : text.npos;
    if (end == text.npos || end - i > 8) {
      result += text[i];
      continue;
    }
    const std::string_view name = text.substr(i + 1, end - i - 1);
    char c = 0;
    if (name == "amp") c = '&';
    if (name == "lt") c = '<';
    if (name == "gt") c = '>';
    if (name == "quot") c = '"';
    if (name == "apos") c = '\'';
    if (name.starts_with('#')) {
      unsigned value = 0;
      const bool hex = name.size() > 1 && (name[1] == 'x' || name[1] == 'X');
      for (const char digit : name.substr(hex ? 2 : 1)) {
        const std::size_t number = std::string_view("0123456789abcdef")
                                       .find(static_cast<char>(digit >= 'A' && digit <= 'F' ? digit + 32 : digit));
        if (number == std::string_view::npos || number >= (hex ? 16U : 10U)) value = 128;
        value = std::min(value * (hex ? 16 : 10) + static_cast<unsigned>(number % 16), 128U);
      }
      if (value > 0 && value < 128) c = static_cast<char>(value);
    }
    if (c == 0) {
      result += text[i];
    } else {
      result += c;
      i = end;
    }
  }
  return result;
}

// As the value of a query.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '_' || c == '.' || c == '~';
    result += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

bool is_bucket_page(std::string_view body) { return body.find("<ListBucketResult") < 1024; }

std::string folder_url(const std::string& base, const std::string& key) {
  return base + (base.ends_with('/') ? "" : "/") + key + "/";
}

std::vector<ListedFile> list_folder(const std::filesystem::path& folder) {
  std::vector<ListedFile> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!pep::is_safe_file_name(name) || !entry.is_regular_file(error)) continue;
    files.push_back({name, entry.file_size(error)});
  }
  if (error) sys::throw_sys_error(error.value(), "list", folder);
  return files;
}

std::vector<ListedFile> list_page(const fetch::Response& page) {
  std::vector<ListedFile> files;
  for (const pep::ProjectFile& file : pep::parse_project_html(page.body, page.url).files)
    files.push_back({file.name, file.size});
  return files;
}

std::vector<ListedFile> list_bucket(const std::string& base, const std::string& key,
                                    const fetch::FetchOptions& options) {
  std::vector<ListedFile> files;
  std::string next;
  for (int page = 0; page < k_most_pages; ++page) {
    std::string url =
        fmt::format("{}{}?list-type=2&prefix={}", base, base.ends_with('/') ? "" : "/", escaped(key + "/"));
    if (!next.empty()) url += "&continuation-token=" + escaped(next);
    const fetch::Response response = fetch::get(url, options);
    if (response.status != 200 || !is_bucket_page(response.body)) return {};
    const BucketPage listed = parse_bucket_page(response.body, key + "/");
    files.insert(files.end(), listed.files.begin(), listed.files.end());
    if (listed.next.empty() || listed.next == next || files.size() > k_most_files) break;
    next = listed.next;
  }
  return files;
}

}  // namespace

BucketPage parse_bucket_page(std::string_view xml, std::string_view prefix) {
  if (!is_bucket_page(xml)) throw Error("not a bucket listing");
  BucketPage page;
  std::size_t at = 0;
  while (const auto item = element(xml, "Contents", at)) {
    if (page.files.size() >= k_most_files) throw Error("the listing has more files than any run");
    const auto key = only_element(*item, "Key");
    if (!key) continue;
    const std::string name = without_entities(*key);
    if (!name.starts_with(prefix)) continue;
    ListedFile file{name.substr(prefix.size()), std::nullopt};
    if (!pep::is_safe_file_name(file.name)) continue;  // the folder itself, or a file below a subfolder
    if (const auto size = only_element(*item, "Size")) file.size = to_number(*size);
    page.files.push_back(std::move(file));
  }
  const auto more = only_element(xml, "IsTruncated");
  const auto next = only_element(xml, "NextContinuationToken");
  if (more && trim(*more) == "true" && next) page.next = without_entities(*next);
  return page;
}

std::string place_of(const std::string& base, const std::string& key, const std::string& name) {
  if (base.find("://") == base.npos) return (std::filesystem::path(base) / key / name).string();
  std::string file;
  for (const std::string_view part : split(name, '/')) file += (file.empty() ? "" : "/") + escaped(part);
  return folder_url(base, key) + file;
}

std::vector<ListedFile> list_run(const std::string& base, const std::string& key, const fetch::FetchOptions& options) {
  const auto nothing = [&] {
    return Error(fmt::format("no run {} at {}", printable(key), printable(fetch::without_credentials(base))));
  };
  if (base.find("://") == base.npos) {
    if (!sys::is_folder(std::filesystem::path(base) / key)) throw nothing();
    return list_folder(std::filesystem::path(base) / key);
  }
  std::vector<ListedFile> files;
  for (const char* page : {"", "index.html"}) {
    const fetch::Response response = fetch::get(folder_url(base, key) + page, options);
    if (response.status == 401 || response.status == 407)
      throw Error(fmt::format("{} requires a password", printable(fetch::without_credentials(base))));
    if (response.status == 200 && is_bucket_page(response.body)) break;  // it has no pages of folders
    if (response.status == 200) files = list_page(response);
    if (!files.empty()) return files;
  }
  files = list_bucket(base, key, options);
  if (files.empty()) throw nothing();
  return files;
}

}  // namespace wheelsmith::rocm
