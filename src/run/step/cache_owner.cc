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
constexpr std::size_t k_shortest_digest = 16;

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
// the file are its digest, which may be spread over several.
std::string without_digest_folders(const std::string& url) {
  const std::size_t slash = url.rfind('/');
  if (slash == url.npos) return url;
  std::size_t start = slash;
  std::size_t digits = 0;
  while (start > 0) {
    const std::size_t before = url.rfind('/', start - 1);
    if (before == url.npos) break;
    const std::string_view folder = std::string_view(url).substr(before + 1, start - before - 1);
    if (!is_hexadecimal(folder)) break;
    digits += folder.size();
    start = before;
  }
  return digits < k_shortest_digest ? url : url.substr(0, start) + url.substr(slash);
}

}  // namespace

std::string origin_without_release(const source::Pin& pin) {
  switch (pin.kind) {
    case source::Pin::Kind::git: return pin.git_url;
    case source::Pin::Kind::folder: return without_version(pin.folder.string(), pin.version);
    case source::Pin::Kind::archive:
    case source::Pin::Kind::program: break;
  }
  return without_version(without_digest_folders(pin.url.substr(0, pin.url.find_first_of("?#"))), pin.version);
}

std::string cache_owner(const std::string& project, const source::Pin& pin) {
  const std::string text = fmt::format("{}\n{}\n{}", project, enum_name(pin.kind), origin_without_release(pin));
  return fmt::format("{}-{}", store::slug(pep::normalized_name(project)), to_hex(sha256(Bytes(text))).substr(0, 8));
}

}  // namespace wheelsmith::run
