#include "run/step/cache_owner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/hash.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "plan/step/spec_fields.h"
#include "store/store.h"

namespace wheelsmith::run {

namespace {

constexpr std::string_view k_version = "VERSION";
constexpr std::size_t k_sha256_digits = 64;
constexpr std::size_t k_blake2b_digits = 128;
constexpr std::size_t k_devpi_digits = 16;

// A version must contain a dot: "2" occurs in names that have nothing to do with it.
std::string without_version(std::string text, const std::string& version) {
  if (version.empty() || std::isdigit(static_cast<unsigned char>(version.front())) == 0 ||
      version.find('.') == version.npos)
    return text;
  for (std::size_t at = text.find(version); at != text.npos; at = text.find(version, at + k_version.size()))
    text.replace(at, version.size(), k_version);
  return text;
}

bool is_hexadecimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == text.npos;
}

// Package indexes serve https://files.example/packages/5f/3b/<60 digits>/small-1.0.tar.gz: the folders directly above
// the file are its digest, which may be spread over several; devpi writes +f/<3 digits>/<13 digits>. Other numbers may
// be those of users, whose packages must not share entries.
std::string without_digest_folders(const std::string& url) {
  const std::size_t slash = url.rfind('/');
  const std::size_t scheme = url.find("://");
  if (!url.starts_with("http") || slash == url.npos || scheme == url.npos) return url;
  const std::size_t host_end = url.find('/', scheme + 3);
  std::size_t start = slash;
  std::size_t digits = 0;
  while (start > host_end) {
    const std::size_t before = url.rfind('/', start - 1);
    const std::string_view folder = std::string_view(url).substr(before + 1, start - before - 1);
    if (!is_hexadecimal(folder)) break;
    digits += folder.size();
    start = before;
  }
  const bool is_devpi = digits == k_devpi_digits && std::string_view(url).substr(0, start).ends_with("/+f");
  const bool is_digest = is_devpi || digits == k_sha256_digits || digits == k_blake2b_digits;
  return is_digest ? url.substr(0, start) + url.substr(slash) : url;
}

// A query may choose the file ("download?id=7"), unless the path names the release.
std::string without_query(const std::string& url, const std::string& version) {
  const std::string bare = url.substr(0, url.find('#'));
  const std::string path = bare.substr(0, bare.find('?'));
  const bool names_release = version.find('.') != version.npos && path.find(version, path.rfind('/') + 1) != path.npos;
  return names_release ? path : bare;
}

}  // namespace

std::string origin_without_release(const source::Pin& pin) {
  switch (pin.kind) {
    case source::Pin::Kind::git: return pin.git_url;
    case source::Pin::Kind::folder: return without_version(pin.folder.string(), pin.version);
    case source::Pin::Kind::archive:
    case source::Pin::Kind::program: break;
  }
  return without_version(without_digest_folders(without_query(pin.url, pin.version)), pin.version);
}

std::string cache_owner(const std::string& project, const source::Pin& pin) {
  const std::string text = fmt::format("{}\n{}\n{}", project, enum_name(pin.kind), origin_without_release(pin));
  // In full: an attacker could find a URL whose first digits are the same.
  return fmt::format("{}-{}", store::slug(pep::normalized_name(project)), to_hex(sha256(Bytes(text))));
}

}  // namespace wheelsmith::run
