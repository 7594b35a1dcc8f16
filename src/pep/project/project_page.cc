// A page of an index is a list of files. Each file needs a name, a URL and a hash; everything else is optional. The
// page is untrusted: an invalid entry (a name that is a path, a malformed hash) is left out, and a page that would
// need more memory than any real one is rejected. The largest pages of 2026 have about 20,000 files.

#include "pep/project/project_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "pep/project/project_file_list.h"
#include "pep/scanner.h"
#include "pep/version.h"
#include "pep/wheel_name.h"

namespace wheelsmith::pep {

namespace {

constexpr std::array<std::string_view, 5> k_sdist_endings{".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz"};
constexpr std::size_t k_most_files = 200'000;
constexpr std::uint64_t k_most_bytes = 256ull << 20;
constexpr std::size_t k_longest_url = 8192;

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); });
}

std::string_view sdist_ending(std::string_view name) {
  for (const std::string_view ending : k_sdist_endings) {
    if (name.ends_with(ending)) return ending;
  }
  return {};
}

// "name=hex", as in URL fragments. If there are two, the first one is used.
void add_hash(std::map<std::string, std::string>& hashes, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return;
  const std::string_view name = text.substr(0, equals);
  for (const std::string_view known : {"sha256", "sha384", "sha512", "sha224", "sha1", "md5"}) {
    if (name == known) hashes.emplace(name, to_lower(text.substr(equals + 1)));
  }
}

}  // namespace

void check_repository_version(std::string_view version) {
  const std::string_view major = version.substr(0, version.find('.'));
  if (major != "1") {
    throw Error(fmt::format("the page has repository version {}; only 1.x is supported", quoted_text(version)));
  }
}

bool ProjectFile::is_wheel() const { return name.ends_with(".whl"); }
bool ProjectFile::is_sdist() const { return !sdist_ending(name).empty(); }

std::optional<std::string> sdist_version(std::string_view file_name, std::string_view project) {
  const std::string_view ending = sdist_ending(file_name);
  if (ending.empty() || file_name.size() > 255) return std::nullopt;
  file_name.remove_suffix(ending.size());
  const std::string wanted = normalized_name(project);
  // Old file names are not escaped, so any '-' may be the one before the version.
  for (std::size_t at = file_name.find('-'); at != std::string_view::npos; at = file_name.find('-', at + 1)) {
    if (normalized_name(file_name.substr(0, at)) != wanted) continue;
    const std::string_view version = file_name.substr(at + 1);
    if (Version::try_parse(version)) return std::string(version);
  }
  return std::nullopt;
}

void FileList::add(ProjectFile file, std::string_view link, std::string_view text) {
  if (link.size() > k_longest_url || m_base.size() > k_longest_url) return;
  std::string cleaned;
  for (const char c : trim(link)) {
    if (c != '\t' && c != '\n' && c != '\r') cleaned += c;  // as browsers do
  }
  file.url = percent_encoded(resolve_url(m_base, cleaned));
  if (const std::size_t mark = file.url.find('#'); mark != std::string::npos) {
    for (const std::string_view part : split(std::string_view(file.url).substr(mark + 1), '&')) {
      add_hash(file.hashes, part);
    }
    file.url.resize(mark);
  }
  if (file.name.empty()) {
    file.name = percent_decoded(base_name(std::string_view(file.url).substr(0, file.url.find('?'))));
    const std::string_view shown = trim(text);
    if (!file.is_wheel() && !file.is_sdist() && (shown.ends_with(".whl") || !sdist_ending(shown).empty())) {
      file.name = shown;
    }
  }
  if (!is_safe_file_name(file.name)) return;
  const auto sha256 = file.hashes.find("sha256");
  if (sha256 != file.hashes.end() && (sha256->second.size() != 64 || !is_hex(sha256->second))) return;

  m_bytes += sizeof(ProjectFile) + file.url.size() + file.name.size() + file.requires_python.size();
  if (file.yanked) m_bytes += file.yanked->size();
  for (const auto& [name, value] : file.hashes) m_bytes += name.size() + value.size() + 100;
  if (m_files.size() == k_most_files || m_bytes > k_most_bytes) {
    throw Error(fmt::format("the page lists more files than any project has (over {})", m_files.size()));
  }
  m_files.push_back(std::move(file));
}

}  // namespace wheelsmith::pep
